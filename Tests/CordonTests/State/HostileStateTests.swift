import Cordon
import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// What an app has stored, with every member in wrong forms and sealed as only the app itself could: a start goes on without it or says
/// why not, and none ends the process.
@Suite(.timeLimit(.minutes(10))) struct HostileStateTests {
    @Test(arguments: ["registrations", "life", "launch"])
    func `nothing that is stored ends a start, or the work after it`(kind: String) async throws {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled()
        await protection.checkIn(account)
        _ = await protection.launch(account)
        let (data, whole) = (device.folder.appending(path: "data"), device.folder.appending(path: "whole"))
        try FileManager.default.copyItem(at: data, to: whole)
        func restore() throws {
            try FileManager.default.removeItem(at: data)
            try FileManager.default.copyItem(at: whole, to: data)
        }
        var changed = 0
        for name in device.files(in: kind) {
            let file = data.appending(path: kind).appending(path: name)
            guard let contents = try? device.contents(ofState: file) else { continue }
            let value = try JSONValue(parsing: contents)
            for (index, place) in Place.all(in: value).enumerated() {
                for form in WrongForm.some(at: index) {
                    try restore()
                    // What is no JSON no app has sealed.
                    guard (try? device.seal(place.text(of: value, as: form), inState: file)) != nil else { continue }
                    changed += 1
                    guard let restarted = try? await device.start() else { continue }
                    _ = await restarted.launch(account)
                    await restarted.checkIn(account)
                    await restarted.performDueWork()
                    _ = restarted.diagnostics.report().lines
                }
            }
        }
        #expect(changed > 5, "\(kind)")
        try restore()
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts == [device.account] && !device.mayPrint(restarted), "the control")
    }
}
