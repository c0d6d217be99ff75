import CordonProtocol
import Foundation

/// An app on a device with a key of its own.
struct TestDevice: Sendable {
    static let bundleID = "org.example.fieldnotes"

    let key = SoftwareSigningKey()
    let tag: String
    var person = TestPerson.workerA
    var build: String?

    init(tag: String = "tag-1", person: TestPerson = .workerA) {
        self.tag = tag
        self.person = person
    }

    var facts: ApplicationFacts {
        ApplicationFacts(bundleID: Self.bundleID, version: "3.1", build: build, sdkVersion: "1.0")
    }

    var description: DeviceDescription { DeviceDescription(tag: tag, osVersion: "18.2", model: "iPhone15,2") }

    var registration: RegistrationRequest {
        RegistrationRequest(application: facts, device: description, source: .loginAndEnroll, nonce: "n-1")
    }

    func checkIn(_ sequence: Int64 = 0, digest: String? = nil, version: String? = nil, at now: Date) -> CheckInRequest {
        CheckInRequest(
            appliedSequence: sequence, appliedVersion: version, appliedDigest: digest, application: facts,
            device: description, health: [], clientTime: now, nonce: "n-2")
    }
}
