import CordonIdentity
import Foundation
import Testing

/// Rows SDK-ID-03…12, SDK-ID-21, SDK-ID-46 and SDK-NA-01…03. Each test is a process of its own, because the levels are
/// the process's.
@Suite struct LevelsTests {
    /// Ends a test process, with the number of the first expectation that did not hold.
    private static func end(_ held: [Bool]) -> Never {
        exit(Int32(held.firstIndex(of: false).map { $0 + 1 } ?? 0))
    }

    @Test func `every level starts as nil, and what is in force as unset`() async {
        await #expect(processExitsWith: .success) {
            Self.end([
                IdentityContext.processIdentity == nil, IdentityContext.windowIdentities() == nil,
                IdentityContext.currentScope == nil, IdentityContext.current == .unset,
                IdentityContext.currentInterface() == [.unset],
            ])
        }
    }

    @Test func `for files the window is skipped, for the screen it counts above the process and below the scope`() async
    {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            IdentityContext.setWindowIdentities([.managed("window")], of: nil)
            var held = [
                IdentityContext.current == .managed("process"),
                IdentityContext.currentInterface() == [.managed("window")],
            ]
            IdentityContext.with(.managed("task")) {
                held.append(IdentityContext.current == .managed("task"))
                held.append(IdentityContext.currentInterface() == [.managed("task")])
            }
            Self.end(held)
        }
    }

    @Test func `nobody's scope stops the fall to the process, a scope of nil does not`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            var held: [Bool] = []
            IdentityContext.with(.personal) { held.append(IdentityContext.current == .personal) }
            IdentityContext.with(.managed("task")) {
                IdentityContext.with(nil) {
                    held.append(IdentityContext.current == .managed("process"))
                    held.append(IdentityContext.currentScope == nil)
                }
                held.append(IdentityContext.current == .managed("task"))
            }
            Self.end(held)
        }
    }

    @Test func `a window of nil falls to the process, an empty list is nobody's`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            IdentityContext.setWindowIdentities([.managed("window")], of: "w")
            IdentityContext.setWindowIdentities(nil, of: "w")
            var held = [IdentityContext.currentInterface(in: "w") == [.managed("process")]]
            IdentityContext.setWindowIdentities([], of: "w")
            held.append(IdentityContext.windowIdentities(of: "w") == [.personal])
            held.append(IdentityContext.currentInterface(in: "w") == [.personal])
            Self.end(held)
        }
    }

    @Test func `each window has its own identity, and the one in front answers where none is named`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("a")], of: "left")
            IdentityContext.setWindowIdentities([.personal], of: "right")
            IdentityContext.setKeyWindow("right")
            var held = [
                IdentityContext.windowIdentity(of: "left") == .managed("a"),
                IdentityContext.windowIdentity() == .personal,
                IdentityContext.currentInterface() == [.personal],
                // A window without an identity does not borrow that of the one in front.
                IdentityContext.currentInterface(in: "third") == [.lost],
            ]
            IdentityContext.setKeyWindow("left")
            held.append(IdentityContext.currentInterface() == [.managed("a")])
            Self.end(held)
        }
    }

    @Test func `a window with several accounts has no single identity, and lists each account once`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("a"), .managed("A"), .personal], of: nil)
            Self.end([
                IdentityContext.windowIdentity() == nil,
                IdentityContext.windowIdentities() == [.managed("a"), .personal],
                IdentityContext.currentInterface() == [.managed("a"), .personal],
            ])
        }
    }

    @Test func `a window's identity counts on every thread and in detached tasks, for the screen only`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("window")], of: nil)
            let seen = await Task.detached {
                (IdentityContext.currentInterface(), IdentityContext.current)
            }.value
            Self.end([seen.0 == [.managed("window")], seen.1 == .lost])
        }
    }

    @Test func `the process and the windows know an account by either name`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.learn(
                ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@contoso.example"))
            IdentityContext.setProcessIdentity(.managed("a@contoso.example"))
            IdentityContext.setWindowIdentities([.managed("A@contoso.example"), .managed("oid-a")], of: nil)
            Self.end([
                IdentityContext.current == .managed("oid-a"),
                IdentityContext.windowIdentities() == [.managed("oid-a")],
            ])
        }
    }
}
