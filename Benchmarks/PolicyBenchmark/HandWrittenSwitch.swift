import CordonPolicy

/// The least that an app without Cordon would write: one switch over the same seven inputs, for one policy, without a
/// reason, a second policy or anything that is missing. The limit of the same run.
struct HandWrittenSwitch {
    /// Seven inputs; account ids are text that is compared as it stands.
    struct Request {
        var action: Action
        var owner: Owner
        var location: Location?
        var locationAccount: String?
        var peer: Peer.App?
        var peerAccount: String?
        var characters: Int
    }

    /// Whose data it is.
    enum Owner { case managed(String), personal }

    let outbound: DataTransferLevel
    let inbound: DataTransferLevel
    let clipboard: ClipboardLevel
    let copyLimit: Int
    let saveAsBlocked: Bool
    let saveTo: Set8
    let ingestionBlocked: Bool
    let openFrom: Set8
    let printBlocked: Bool
    let contactsBlocked: Bool
    let widgets: Bool
    let notifications: NotificationLevel
    let backupBlocked: Bool

    /// Places as bits.
    struct Set8 {
        var bits: UInt32 = 0

        init(_ places: [Location]) { for place in places { bits |= Self.bit(place) } }

        func contains(_ place: Location) -> Bool { bits & Self.bit(place) != 0 }

        private static func bit(_ place: Location) -> UInt32 {
            switch place {
            case .oneDriveForBusiness: 1
            case .sharePoint: 2
            case .box: 4
            case .cameraRoll: 8
            case .localDrive: 16
            case .camera: 32
            case .photos: 64
            default: 0
            }
        }
    }

    // Never inlined: a caller that asks again would get the first answer for nothing.
    @inline(never)
    func verdict(_ request: Request) -> Verdict {
        guard case .managed(let owner) = request.owner else { return .allow }
        switch request.action {
        case .saveTo:
            switch outbound {
            case .allApps: return .allow
            case .none: return .block
            case .managedApps:
                guard saveAsBlocked else { return .allow }
                guard let place = request.location, saveTo.contains(place), request.locationAccount == owner else {
                    return .block
                }
                return .allow
            }
        case .openFrom:
            switch inbound {
            case .allApps: return .allow
            case .none: return .block
            case .managedApps:
                guard ingestionBlocked else { return .allow }
                guard let place = request.location, openFrom.contains(place), request.locationAccount == owner else {
                    return .block
                }
                return .allow
            }
        case .send: return transfer(outbound, request, owner)
        case .receive: return transfer(inbound, request, owner)
        case .copy:
            if clipboard == .allApps || (clipboard != .blocked && isSame(request, owner)) { return .allow }
            return copyLimit > 0 && request.characters <= copyLimit ? .allow : .block
        case .paste:
            if inbound == .none || clipboard == .blocked { return .block }
            return clipboard != .managedApps || isSame(request, owner) ? .allow : .block
        case .print: return printBlocked ? .block : .allow
        case .syncContacts: return contactsBlocked ? .block : .allow
        case .showWidget: return widgets ? .allow : .block
        case .backUp: return backupBlocked ? .block : .allow
        case .share: return outbound == .none ? .block : .allow
        case .siriIntent, .appIntent, .indexSpotlight: return outbound == .allApps ? .allow : .block
        case .notify:
            switch notifications {
            case .allow: return .allow
            case .blockOrganizationalData: return .restrict
            case .block: return .block
            }
        default: return .block
        }
    }

    private func isSame(_ request: Request, _ owner: String) -> Bool {
        request.peer == .managed && request.peerAccount == owner
    }

    private func transfer(_ level: DataTransferLevel, _ request: Request, _ owner: String) -> Verdict {
        switch level {
        case .allApps: .allow
        case .none: .block
        case .managedApps: isSame(request, owner) ? .allow : .block
        }
    }
}

extension HandWrittenSwitch {
    /// The same rules as a policy's.
    init(_ policy: AppProtectionPolicy) {
        outbound = policy.transfer.outbound
        inbound = policy.transfer.inbound
        clipboard = policy.transfer.clipboard
        copyLimit = policy.transfer.clipboardExceptionLength
        saveAsBlocked = policy.transfer.saveAsBlocked
        saveTo = Set8([.oneDriveForBusiness, .sharePoint])
        ingestionBlocked = policy.transfer.ingestionBlocked
        openFrom = Set8([.oneDriveForBusiness, .sharePoint])
        printBlocked = policy.transfer.printBlocked
        contactsBlocked = policy.transfer.contactSyncBlocked
        widgets = policy.transfer.widgetContentAllowed
        notifications = policy.transfer.notifications
        backupBlocked = policy.storage.backupBlocked
    }
}
