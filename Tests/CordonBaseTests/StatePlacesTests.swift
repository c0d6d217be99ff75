import Testing

@testable import CordonBase

struct StatePlacesTests {
    @Test func `a store that comes and goes in one place makes no other one be forgotten`() {
        var known = StatePlaces.Known()
        for paths in [["quiet"]] + [[String]](repeating: ["busy", "beside"], count: StatePlaces.mostLeft * 2) {
            known.note(paths)
            known.leave(paths)
        }
        #expect(["quiet", "busy", "beside"].allSatisfy(known.contains))
    }

    @Test func `a place is known while a store has it, and until sixty-four others have gone after the last one`() {
        var known = StatePlaces.Known()
        func others(_ name: String) {
            for number in 0..<StatePlaces.mostLeft {
                known.note(["\(name) \(number)"])
                known.leave(["\(name) \(number)"])
            }
        }
        known.note(["shared", "first"])
        known.note(["shared"])
        known.leave(["shared", "first"])
        #expect(known.contains("first"))
        others("before")
        #expect(known.contains("shared") && !known.contains("first"))
        known.leave(["shared"])
        #expect(known.contains("shared"))
        others("after")
        #expect(!known.contains("shared") && !known.contains("before 0") && known.contains("after 0"))
    }
}
