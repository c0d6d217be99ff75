/// What gives data to the system: its screens, its search, its assistants, its logs, its stores.
extension WayCatalogue {
    mutating func addSystem() {
        addNotices()
        addIntents()
        addStores()
        addTalk()
    }

    private mutating func addNotices() {
        add(["add", "addNotificationRequest"], .notification, .method(.notificationCenter))
        add(["addNotificationRequest"], .notification, .method(nil), swiftOnly: false)
        add(["UILocalNotification"], .notification, .make)
        add(["scheduleLocalNotification", "presentLocalNotificationNow"], .notification, .method(nil))
        add(
            ["didReceive", "didReceiveNotificationRequest"], .notification, .callback, .warning,
            labels: ["withContentHandler"], when: .inNotificationService)
        add(["getTimeline", "timeline"], .widget, .callback, .warning, when: .inTimeline)
        add(["getSnapshot", "snapshot"], .widget, .callback, .warning, when: .showsInWidget, swiftOnly: true)
        add(["request"], .widget, .method(nil), labels: ["attributes"], swiftOnly: true)
        add(["ActivityContent"], .widget, .make, when: .standsAlone, swiftOnly: true)
        add(["update", "end"], .widget, .method(nil), when: .givesActivity, swiftOnly: true)
        add(["nowPlayingInfo", "shortcutItems"], .widget, .assign(nil))
        add(["localizedCallerName"], .notification, .assign(nil), .warning)
        add(
            ["application"], .keyboard, .callback, labels: ["shouldAllowExtensionPointIdentifier"], when: .saysYes)
    }

    private mutating func addIntents() {
        add(["perform"], .siri, .callback, .warning, when: .inIntent)
        add(["handle"], .siri, .callback, .warning, labels: ["intent"])
        add(
            ["donate", "donateInteraction", "donateInteractionWithCompletion"], .siri, .method(nil), when: .namesNoOwner
        )
        add(["translationPresentation", "imagePlaygroundSheet"], .share, .method(nil), .warning, swiftOnly: true)
        add(["ImagePlaygroundViewController"], .share, .make, .warning)
        add(["setShortcutSuggestions", "setShortcuts"], .siri, .method(nil))
        add(["suggestedInvocationPhrase", "isEligibleForPrediction"], .siri, .assign(nil), .warning, when: .isOn)
        add(["becomeCurrent"], .handoff, .method(nil))
        add(["userActivity"], .handoff, .assign(nil), .warning)
        add(["userActivity"], .handoff, .assignOwn, .warning)
        add(["userActivity"], .handoff, .method(nil), swiftOnly: true)
        add(
            ["isEligibleForHandoff", "isEligibleForSearch", "isEligibleForPublicIndexing"], .handoff, .assign(nil),
            when: .isOn)
        add(["indexSearchableItems", "indexAppEntities"], .spotlight, .method(nil))
        add(["NSCoreDataCoreSpotlightDelegate"], .spotlight, .make)
        add(["imagePlaygroundSheet"], .siri, .method(nil), .warning, swiftOnly: true)
    }

    private mutating func addStores() {
        add(["add", "update", "addContact", "updateContact"], .contacts, .method(.contactRequest))
        add(["execute", "executeSaveRequest"], .contacts, .method(.contactStore))
        add(["CNContactViewController"], .contacts, .make, .warning, labels: ["forNewContact", "forUnknownContact"])
        add(["viewControllerForNewContact", "viewControllerForUnknownContact"], .contacts, .method(nil), .warning)
        add(["save", "saveEvent", "saveReminder", "saveCalendar"], .contacts, .method(.eventStore))
        add(["EKEventEditViewController", "EKEventViewController"], .contacts, .make, .warning)
        add(["ABAddressBookAddRecord", "ABAddressBookSave"], .contacts, .call)
    }

    private mutating func addTalk() {
        add(["uploadTask", "uploadTaskWithRequest", "uploadTaskWithStreamedRequest"], .network, .method(nil), .note)
        add(["upload"], .network, .method(nil), .note, labels: ["for", "to"], swiftOnly: true)
        add(["logEvent", "logEventWithName"], .network, .method(nil), .warning, when: .tellsSomething)
        add(["NSLog", "NSLogv", "CFLog", "syslog", "CLSLog", "CLSNSLog"], .log, .call, .warning, when: .tellsSomething)
        add(
            ["os_log", "os_log_error", "os_log_info", "os_log_debug", "os_log_fault"], .log, .call, .warning,
            when: .tellsPublicly)
        add(
            ["log", "debug", "info", "notice", "error", "warning", "fault", "critical", "trace"], .log, .method(nil),
            .warning,
            when: .tellsPublicly, swiftOnly: true)
        add(["print", "debugPrint", "dump", "printf", "puts"], .log, .call, .note, when: .tellsSomething)
    }
}
