#if canImport(UIKit)
    public import Cordon
    internal import Foundation
    internal import UIKit

    #if canImport(CoreFoundation)
        internal import CoreFoundation
    #endif

    extension DeviceDescription {
        /// This device, without the name that its owner gave it.
        @MainActor public static var ofThisDevice: DeviceDescription {
            DeviceDescription(osVersion: UIDevice.current.systemVersion, model: modelIdentifier)
        }

        /// Such as `iPhone16,2`; in a simulator the one that it plays.
        static var modelIdentifier: String {
            if let simulated = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return simulated }
            var system = utsname()
            guard uname(&system) == 0 else { return "unknown" }
            return withUnsafeBytes(of: &system.machine) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
    }

    extension DeviceFacts {
        /// What this device tells for the launch conditions: passcode, traces of a jailbreak, model, version of the system.
        ///
        /// Threat level and working time are not the device's to tell; the organisation's service has them. In a simulator nothing is said of a
        /// jailbreak, and a rule that asks for it denies.
        public static func ofThisDevice(_ traces: RootTraces = .system) -> DeviceFacts {
            var facts = DeviceFacts()
            let version = ProcessInfo.processInfo.operatingSystemVersion
            facts.osVersion = VersionNumber("\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)")
            facts.model = DeviceDescription.modelIdentifier
            facts.devicePINSet = DeviceBiometry.hasPasscode
            #if !targetEnvironment(simulator)
                facts.rooted = !traces.found.isEmpty
            #endif
            return facts
        }
    }
#endif
