import Testing

@testable import CordonBase

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("pinRequired", "pinRequierd", 1),
        ("ab", "ba", 1), ("ca", "abc", 3), ("same", "same", 0), ("same", "Same", 1),
    ])
    func `a letter added, left out, exchanged or swapped with its neighbour counts one`(
        left: String, right: String, edits: Int
    ) {
        #expect(EditDistance.between(Array(left), Array(right)) == edits)
        #expect(EditDistance.between(Array(right), Array(left)) == edits)
    }
}
