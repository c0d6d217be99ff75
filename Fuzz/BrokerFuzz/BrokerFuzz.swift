import CordonBroker
import CordonSignIn
import Foundation

/// Feeds foreign bytes to what the broker reads from its socket and from administrators: frames, requests, profiles and
/// configuration files.
///
/// A stream means the same however it is cut, no frame is larger than the limit, and a request that was read has a form
/// that reads back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBroker(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = start.map { Data(bytes: $0, count: count) } ?? Data()
    let outcome = BrokerParsing.read(bytes)
    precondition(outcome.fault == nil, outcome.fault ?? "")
    _ = try? BrokerConfiguration(json: bytes, place: "fuzz")
    var configuration = BrokerConfiguration(
        signIn: SignInConfiguration(issuer: "https://id.contoso.example", clientID: "broker"))
    _ = try? configuration.apply(profile: bytes, place: "fuzz")
    return 0
}
