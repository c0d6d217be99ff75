import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import CordonVault
import Crypto
import Foundation
import Testing

extension ProtectionConfiguration {
    /// Has the app run on a copy of a lasting device's folder.
    mutating func lie(in folder: URL) {
        dataDirectory = folder.appending(path: "data")
        keyStore = FileKeyStore(directory: folder.appending(path: "keys"))
    }
}

/// State files, opened and written by the documented form rather than by the code under test.
extension Device {
    /// What a sealed state file holds.
    func contents(ofState file: URL) throws -> Data { Data(try #require(record(in: file)["value"]).text().utf8) }

    /// Seals a state file with other contents, as no process without the root key could.
    func seal(_ contents: String, inState file: URL) throws {
        var members = try #require(record(in: file).object)
        members["value"] = try JSONValue(parsing: Data(contents.utf8))
        let plain = JSONValue.object(members).text()
        let box = try AES.GCM.seal(
            Data(plain.utf8), using: try sealKey("cordon-state-seal-2"), authenticating: Self.context(of: file))
        let text = Base64URL.encode(try #require(box.combined))
        try Data(#"{"sealed":"\#(text)","version":4}"#.utf8).write(to: file)
    }

    /// Makes the home what a version before counting left: sealed files with no number anywhere, or before that, plain ones. What
    /// launch and PIN remember was sealed in another form.
    ///
    /// - Parameter counters: Where numbers were kept, if not in the home.
    func makeFormer(
        isPlain: Bool = false, counters: URL? = nil, _ change: (inout [String: JSONValue]) -> Void = { _ in }
    ) throws {
        let data = folder.appending(path: "data")
        for name in ["registrations", "life", "launch", "pins"] {
            for file in files(in: name).sorted() where file.hasSuffix(".json") {
                let file = data.appending(path: name).appending(path: file)
                guard let value = try? record(in: file)["value"] else { continue }
                if ["launch", "pins"].contains(name) {
                    try sealRaw(value, as: Self.purposes[name] ?? "", in: file)
                } else {
                    var members = value.object ?? [:]
                    change(&members)
                    try write(.object(members), isPlain: isPlain, to: file)
                }
            }
        }
        let mark = data.appending(path: "life/sealed.json")
        if isPlain {
            try FileManager.default.removeItem(at: mark)
        } else {
            try Data(#"{"version":3}"#.utf8).write(to: mark)
        }
        let numbers = counters ?? data.appending(path: "counters")
        try? FileManager.default.removeItem(at: numbers)
        try FileManager.default.createDirectory(at: numbers, withIntermediateDirectories: true)
    }

    private func write(_ value: JSONValue, isPlain: Bool, to file: URL) throws {
        let plain = Data(value.text().utf8)
        if isPlain { return try plain.write(to: file) }
        let box = try AES.GCM.seal(
            plain, using: try sealKey("cordon-state-seal-1"), authenticating: Data(file.lastPathComponent.utf8))
        let text = Base64URL.encode(try #require(box.combined))
        try Data(#"{"sealed":"\#(text)","version":3}"#.utf8).write(to: file)
    }

    private func sealRaw(_ value: JSONValue, as purpose: String, in file: URL) throws {
        let name = Data(file.lastPathComponent.utf8)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try keyStore.rootKey(), salt: name, info: Data("cordon-\(purpose)-seal-1".utf8),
            outputByteCount: 32)
        let box = try AES.GCM.seal(Data(value.text().utf8), using: key, authenticating: name)
        try #require(box.combined).write(to: file)
    }

    private func record(in file: URL) throws -> JSONValue {
        guard let text = try JSONValue(parsing: Data(contentsOf: file))["sealed"]?.string,
            let sealed = Base64URL.decode(text)
        else { throw CocoaError(.fileReadCorruptFile) }
        let plain = try AES.GCM.open(
            try AES.GCM.SealedBox(combined: sealed), using: try sealKey("cordon-state-seal-2"),
            authenticating: Self.context(of: file))
        return try JSONValue(parsing: plain)
    }

    private static let purposes = [
        "registrations": "registration", "life": "life", "launch": "launch", "pins": "pin", "guards": "guard",
        "wipes": "wipe", "data": "settings", "values": "notifications",
    ]

    private static func context(of file: URL) -> Data {
        let isOfService = file.lastPathComponent.hasPrefix("service-")
        let purpose = isOfService ? "service" : purposes[file.deletingLastPathComponent().lastPathComponent] ?? ""
        return Data("\(purpose)/\(file.lastPathComponent)".utf8)
    }

    private func sealKey(_ info: String) throws -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try keyStore.rootKey(), info: Data(info.utf8), outputByteCount: 32)
    }
}
