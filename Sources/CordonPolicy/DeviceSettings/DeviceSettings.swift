/// The flat settings of a device: what debug builds take from a settings bundle, and what diagnostics show
/// (SDK-DB-01…21).
public struct DeviceSettings: Sendable, Equatable {
    /// Values by flat name, for example `AppSharingToLevel`.
    public let values: [String: JSONValue]

    /// Takes values as they stand in a settings bundle.
    public init(_ values: [String: JSONValue]) {
        self.values = values
    }

    /// The flat form of a policy, defaults filled in.
    public init(_ policy: AppProtectionPolicy) {
        var values: [String: JSONValue] = [:]
        for setting in DeviceSetting.all {
            if let value = Setting.named(setting.property).flatMap({ setting.toDevice($0.write(policy)) }) {
                values[setting.name] = value
            }
        }
        values[Self.biometryTimeLimit] = policy.access.pinRequiredInsteadOfBiometricTimeout > .zero ? 1 : 0
        if policy.launch.allowedModels != nil {
            values[policy.launch.actionIfModelNotAllowed == .wipe ? Self.modelsWipe : Self.modelsBlock] =
                SettingCodec.models.write(policy.launch.allowedModels)
        }
        self.values = values
    }

    /// The policy that these settings amount to, and a warning for every value that is left aside.
    ///
    /// An invalid value is ignored (CQ-25); names that devices have but no administrator sets are accepted
    /// without effect (SRV-RS-100).
    public func policy(id: String = "debug") -> (policy: AppProtectionPolicy, warnings: [String]) {
        var policy = AppProtectionPolicy(id: id, displayName: "Device settings")
        var warnings: [String] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where !Self.withoutEffect.contains(name) {
            if name == Self.modelsBlock || name == Self.modelsWipe {
                guard let reading = try? SettingCodec.models.read(value) else {
                    warnings.append("\(name): models with ; between are needed")
                    continue
                }
                policy.launch.allowedModels = reading.value
                if reading.value != nil {
                    policy.launch.actionIfModelNotAllowed = name == Self.modelsWipe ? .wipe : .block
                }
                continue
            }
            guard let device = DeviceSetting.all.first(where: { $0.name == name }),
                let setting = Setting.named(device.property)
            else {
                warnings.append("\(name): no such setting")
                continue
            }
            guard let graph = device.toGraph(value) else {
                warnings.append("\(name): the value is not one of the documented ones")
                continue
            }
            if graph == .null { continue }
            var changed = policy
            guard (try? setting.read(graph, &changed)) == true else {
                warnings.append("\(name): the value is out of range")
                continue
            }
            policy = changed
        }
        // Devices have one word for both: with no other browser named, it is the managed one (SRV-RS-032).
        if policy.transfer.managedBrowserRequired && policy.transfer.customBrowserScheme == nil {
            policy.transfer.managedBrowser = .microsoftEdge
        }
        switch values[Self.biometryTimeLimit] {
        case nil, .integer(1)?, .bool(true)?: break
        case .integer(0)?, .bool(false)?: policy.access.pinRequiredInsteadOfBiometricTimeout = .zero
        default: warnings.append("\(Self.biometryTimeLimit): the value is not one of the documented ones")
        }
        return (policy, warnings)
    }

    private static let modelsBlock = "AllowedIOSModelsElseBlock"
    private static let modelsWipe = "AllowedIOSModelsElseWipe"
    private static let biometryTimeLimit = "NonBioPassTimeOutRequired"
    private static let withoutEffect: Set<String> = [
        biometryTimeLimit, "ClipboardEncryptionEnabled", "DictationBlocked", "DisableShareSense",
        "RequireFileEncryption", "IntuneIdentityUPN",
    ]
}
