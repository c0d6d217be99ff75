import CordonPolicy
import Foundation

extension JSONValue {
    /// A member that is text; empty where there is none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    func list(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }

    func date(_ name: String) -> Date? { Moment.read(self[name]?.string) }

    func number(_ name: String) -> Int { self[name]?.integer.map { Int($0) } ?? 0 }
}
