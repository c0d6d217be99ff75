internal import CordonProtocol

/// What a filter rule may ask about (SRV-TG-07).
struct FilterFacts: Sendable, Equatable {
    /// The values by folded property name, without `app.`.
    private let values: [String: String]

    /// The properties that rules may name.
    static let properties: Set<String> = [
        "appversion", "devicemanagementtype", "devicemanufacturer", "devicemodel", "operatingsystemversion",
        "osversion",
    ]
    /// The properties that are versions: ordered field by field.
    static let versions: Set<String> = ["appversion", "operatingsystemversion", "osversion"]

    /// Whether the device's management has configured the app.
    let isManaged: Bool

    /// The facts of an app on a device.
    init(_ application: ApplicationFacts, _ device: DeviceDescription) {
        self.init(
            version: application.version, system: device.osVersion, model: device.model,
            isManaged: application.management == .mdm)
    }

    /// The facts of apps on devices that are alike.
    init(_ installation: StatusCount.Installation) {
        self.init(
            version: installation.version, system: installation.system, model: installation.model,
            isManaged: installation.isManaged)
    }

    private init(version: String, system: String, model: String, isManaged: Bool) {
        self.isManaged = isManaged
        values = [
            "appversion": version, "devicemanagementtype": isManaged ? "Managed" : "Unmanaged",
            "devicemanufacturer": "Apple", "devicemodel": model, "operatingsystemversion": system,
            "osversion": system,
        ]
    }

    /// The value of a property.
    func value(_ property: String) -> String { values[property] ?? "" }
}

extension Registration {
    /// The facts as the app last reported them.
    var filterFacts: FilterFacts { FilterFacts(application, device) }
}
