import CordonIdentity
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Glibc
import Logging
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// A broker that is started for a socket that listens already (SI-188).
@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct ActivationTests {
    @Test func `a client that connected before the broker ran is answered, and the socket outlives the broker`()
        async throws
    {
        let stand = try BrokerStand {
            $0.isDevelopment = true
            $0.apps = []
        }
        try FileManager.default.createDirectory(at: stand.folder, withIntermediateDirectories: true)
        let path = stand.folder.appending(path: "s").path
        let descriptor = try Listener.make(path)
        let early = try #require(BrokerSocket(path: path, tick: .milliseconds(100)))
        #expect(early.send(BrokerFrame.encode(Data(#"{"id":1,"verb":"hello","versions":[1],"clientID":"x"}"#.utf8))))
        let broker = try await Broker(
            stand.configuration, folder: stand.folder.appending(path: "data"),
            secrets: FileSecretStore(directory: stand.folder.appending(path: "secrets")),
            transport: stand.provider.transport, environment: stand.time.environment,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try InheritedSocket.check(descriptor)
        let server = BrokerServer(
            broker, socket: path, inherited: descriptor, limits: .patient,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let serving = Task { try await server.run {} }
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        try await until {
            switch early.receive(into: &buffer) {
            case .bytes(let bytes): answer.append(contentsOf: bytes)
            case .nothingYet: break
            case .end: return true
            }
            return answer.count >= 10
        }
        #expect(String(decoding: answer.dropFirst(4), as: UTF8.self).contains(#""hello""#))
        let device = try SharedDeviceMode.patient(at: path, clientID: "notes")
        #expect(try await device.deviceInformation().missing == [.registration])
        serving.cancel()
        try await serving.value
        #expect(FileManager.default.fileExists(atPath: path), "it belongs to the program that made it")
    }

    @Test(arguments: [
        [:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "1"], ["LISTEN_FDS": "0", "LISTEN_PID": "77"],
        ["LISTEN_FDS": "x", "LISTEN_PID": "77"],
    ])
    func `an environment that is not meant for this process hands over nothing`(environment: [String: String]) throws {
        #expect(try InheritedSocket.descriptor(environment, process: 77) == nil)
    }

    @Test func `a socket to which no app can connect, as of another type, is refused`() throws {
        let path = TemporaryFolder.newPath().path
        let packets = try Listener.make(path, type: SOCK_SEQPACKET)
        defer {
            close(packets)
            unlink(path)
        }
        #expect(throws: ProgramError.self) { try InheritedSocket.check(packets) }
    }

    @Test func `two sockets, or one that does not listen, are refused`() throws {
        #expect(throws: ProgramError.self) {
            try InheritedSocket.descriptor(["LISTEN_FDS": "2", "LISTEN_PID": "77"], process: 77)
        }
        let path = TemporaryFolder.newPath().path
        let deaf = try Listener.make(path, listens: false)
        defer {
            close(deaf)
            unlink(path)
        }
        #expect(throws: ProgramError.self) { try InheritedSocket.check(deaf) }
        #expect(throws: ProgramError.self) { try InheritedSocket.check(-1) }
        #expect(listen(deaf, 1) == 0)
        try InheritedSocket.check(deaf)
    }
}
