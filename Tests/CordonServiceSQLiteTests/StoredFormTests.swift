import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceSQLite
import Foundation
import Logging
import Testing

/// Stored policies keep what no machine number holds, and times keep their fraction.
struct StoredFormTests {
    @Test func `a policy comes back with every digit and time`() async throws {
        // SRV-RS-011
        let tenant = TenantID("contoso.example")
        let document = try JSONValue(
            parsing: Data(#"{"a":1.0,"b":123456789012345678901234567890.5,"c":[null,"\u0000"]}"#.utf8))
        let policy = ManagedAppPolicy(
            id: "T_1", kind: .iosManagedAppProtection, version: "v", created: Date(timeIntervalSince1970: 1.25),
            modified: Date(timeIntervalSince1970: 1_800_000_000.123), document: document,
            apps: [.init(.ios, "A.b"), .init(.android, "c")], appGroup: .allApps,
            assignments: [
                .init(.group("g"), id: "1", filterID: "f", filterMode: .exclude), .init(.exclusionGroup("x")),
                .init(.allLicensedUsers), .init(.allDevices),
            ])
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await storage.write(tenant) { transaction in try transaction.save(policy) }
            try storage.close()
            let again = try SQLiteStorage(file: file)
            let found = try await again.read(tenant) { records in
                try records.record(ManagedAppPolicy.self, "T_1")
            }
            #expect(found == policy)
        }
    }

    @Test func `no private key is in the store's files`() async throws {
        try await withStoreFile { file in
            let keys = RecordingKeyStore()
            let service = ManagementService(
                storage: try SQLiteStorage(file: file), keyStore: keys, logger: .init(label: "test"))
            try await service.open(TenantID("contoso.example"))
            let secrets = keys.secrets
            #expect(secrets.count == 4, "root, envelopes, audit log, and what the root key delegates to")
            var found = 0
            for name in ["service.sqlite", "service.sqlite-wal"] {
                let bytes = try Data(contentsOf: file.deletingLastPathComponent().appending(path: name))
                for (secret, id) in secrets {
                    #expect(bytes.firstRange(of: secret) == nil)
                    #expect(bytes.firstRange(of: Data(secret.base64EncodedString().utf8)) == nil)
                    // The same scan finds the public id, so it looks in the right place.
                    if name.hasSuffix("wal"), bytes.firstRange(of: Data(id.utf8)) != nil { found += 1 }
                }
            }
            #expect(found == 3, "the delegate stands in its delegation alone")
        }
    }
}
