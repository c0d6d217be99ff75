import CordonGraph
import Foundation

/// Feeds foreign bytes to what the service reads from the bodies of requests: messages of apps, policies, assignments and
/// apps of Graph, filters, and people and groups of SCIM. Seeds are `Tests/Vectors/bodies`.
///
/// What is read has a form that reads back the same, and a message means the same in its bytes and in the tree that was
/// checked.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzService(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = RequestBodyParsing.read(start.map { Data(bytes: $0, count: count) } ?? Data())
    precondition(outcome.fault == nil, outcome.fault ?? "")
    return 0
}
