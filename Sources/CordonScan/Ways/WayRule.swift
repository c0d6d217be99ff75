/// What kind of value a name stands for, as far as a way out depends on it.
enum Handle: UInt8, CaseIterable {
    case pasteboard, application, scene, extensionContext, defaults, cloudStore, fileManager, fileHandle,
        notificationCenter
    case spotlight, printController, webView, photoLibrary, photoChange, speech, peerSession, watchSession,
        cloudDatabase
    case cloudContainer, urlSession, contactStore, contactRequest, eventStore, interactionController, openURL,
        screenRecorder
    case interaction, messenger

    /// Handles of which every member counts as a way out that is not known to be none.
    var isStrict: Bool { self == .pasteboard }
}

/// How a way out is written, and which it is.
struct WayRule {
    enum Shape {
        /// A value of a type is made, or the type is called: `Type(…)`, `Type.init(…)`, `.init(…)` where the type is stated, `[Type …]`.
        case make
        /// A free function is called.
        case call
        /// A member is called, of a handle where one is stated: `x.name(…)`, `[x name:…]`.
        case method(Handle?)
        /// A member is set: `x.name = …`, `[x setName:…]`.
        case assign(Handle?)
        /// A member of the type around is set without a receiver: `name = …`.
        case assignOwn
        /// A method that the system calls is written.
        case callback
        /// An attribute stands before a declaration.
        case attribute
    }

    /// What besides its name a call must have, or must not have.
    enum Condition: UInt8 {
        case none
        /// A first argument that is no plain number or truth.
        case storesContent
        /// Something that is not fixed text.
        case tellsSomething
        /// Fixed text that is marked as public, or an interpolation that is.
        case tellsPublicly
        /// An address that is not the settings page of the app itself.
        case leavesApp
        /// The type around it conforms to an intent.
        case inIntent
        /// The type around it conforms to a timeline provider.
        case inTimeline
        /// The same, and the body shows more than what is made up for the gallery.
        case showsInWidget
        /// A first argument that is not nothing, nor what the extension was given.
        case givesItems
        /// The state of a live activity.
        case givesActivity
        /// Not an argument of a call, which is looked at itself.
        case standsAlone
        /// The message goes to a class that a value stands for; a class that is named is found by its name.
        case namesNoClass
        /// The type around it is a document's.
        case inDocument
        /// The type around it extends notifications.
        case inNotificationService
        /// The body says yes whatever it is asked.
        case saysYes
        /// A mode that writes.
        case writes
        /// Not in memory alone.
        case keeps
        /// Not set to off.
        case isOn
        /// Set to off.
        case isOff
        /// The argument is not passed by reference.
        case isPlace
        /// Not standard output or standard error.
        case isFile
        /// Not one of Cordon's calls, which ask by themselves: they name the owner.
        case namesNoOwner
    }

    let way: WayOut
    let severity: ScanFinding.Severity
    let shape: Shape
    /// One of these argument labels must be there, when there are any. For Objective-C the parts of the selector behind the first.
    let labels: Set<UInt64>
    let condition: Condition
    /// The language that it holds for; nil for both.
    let swiftOnly: Bool?
}
