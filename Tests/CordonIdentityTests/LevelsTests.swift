import CordonIdentity
import Foundation
import Testing

/// Rows SDK-ID-03…12, SDK-ID-21, SDK-ID-46 and SDK-NA-01…03. Each test is a process of its own, because the levels are
/// the process's.
@Suite struct LevelsTests {
    @Test func `every level starts as nil, and what is in force as unset`() async {
        await #expect(processExitsWith: .success) {
            #expect(IdentityContext.processIdentity == nil)
            #expect(IdentityContext.windowIdentities() == nil)
            #expect(IdentityContext.currentScope == nil)
            #expect(IdentityContext.current == .unset)
            #expect(IdentityContext.currentInterface() == [.unset])
        }
    }

    @Test func `for files the window is skipped, for the screen it counts above the process and below the scope`() async
    {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            IdentityContext.setWindowIdentities([.managed("window")], of: nil)
            #expect(IdentityContext.current == .managed("process"))
            #expect(IdentityContext.currentInterface() == [.managed("window")])
            IdentityContext.with(.managed("task")) {
                #expect(IdentityContext.current == .managed("task"))
                #expect(IdentityContext.currentInterface() == [.managed("task")])
            }
        }
    }

    @Test func `a scope of no account stops the fall to the process, a scope of nil does not`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            IdentityContext.with(.personal) { #expect(IdentityContext.current == .personal) }
            IdentityContext.with(.managed("task")) {
                IdentityContext.with(nil) {
                    #expect(IdentityContext.current == .managed("process"))
                    #expect(IdentityContext.currentScope == nil)
                }
                #expect(IdentityContext.current == .managed("task"))
            }
        }
    }

    @Test func `a window of nil falls to the process, an empty list is no account's`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("process"))
            IdentityContext.setWindowIdentities([.managed("window")], of: "w")
            IdentityContext.setWindowIdentities(nil, of: "w")
            #expect(IdentityContext.currentInterface(in: "w") == [.managed("process")])
            IdentityContext.setWindowIdentities([], of: "w")
            #expect(IdentityContext.windowIdentities(of: "w") == [.personal])
            #expect(IdentityContext.currentInterface(in: "w") == [.personal])
        }
    }

    @Test func `each window has its own identity, and the one in front answers where none is named`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("a")], of: "left")
            IdentityContext.setWindowIdentities([.personal], of: "right")
            IdentityContext.setKeyWindow("right")
            #expect(IdentityContext.windowIdentity(of: "left") == .managed("a"))
            #expect(IdentityContext.windowIdentity() == .personal)
            #expect(IdentityContext.currentInterface() == [.personal])
            // A window without an identity does not borrow that of the one in front.
            #expect(IdentityContext.currentInterface(in: "third") == [.lost])
            IdentityContext.setKeyWindow("left")
            #expect(IdentityContext.currentInterface() == [.managed("a")])
        }
    }

    @Test func `a window with several accounts has no single identity, and lists each account once`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("a"), .managed("A"), .personal], of: nil)
            #expect(IdentityContext.windowIdentity() == nil)
            #expect(IdentityContext.windowIdentities() == [.managed("a"), .personal])
            #expect(IdentityContext.currentInterface() == [.managed("a"), .personal])
        }
    }

    @Test func `a window's identity counts on every thread and in detached tasks, for the screen only`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setWindowIdentities([.managed("window")], of: nil)
            let seen = await Task.detached {
                (IdentityContext.currentInterface(), IdentityContext.current)
            }.value
            #expect(seen.0 == [.managed("window")])
            #expect(seen.1 == .lost)
        }
    }

    @Test func `the process and the windows know an account by either name`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.learn(
                ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@contoso.example"))
            IdentityContext.setProcessIdentity(.managed("a@contoso.example"))
            IdentityContext.setWindowIdentities([.managed("A@contoso.example"), .managed("oid-a")], of: nil)
            #expect(IdentityContext.current == .managed("oid-a"))
            #expect(IdentityContext.windowIdentities() == [.managed("oid-a")])
        }
    }
}
