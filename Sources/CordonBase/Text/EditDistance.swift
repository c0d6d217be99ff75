/// How far two texts are apart.
package enum EditDistance {
    /// The least number of single letters to add, leave out, exchange, or swap with the next (Damerau-Levenshtein, each
    /// place edited once).
    package static func between(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var next = [index + 1]
            next.reserveCapacity(right.count + 1)
            for (place, other) in right.enumerated() {
                var least = min(row[place] + (letter == other ? 0 : 1), row[place + 1] + 1, next[place] + 1)
                if index > 0, place > 0, letter == right[place - 1], left[index - 1] == other {
                    least = min(least, before[place - 1] + 1)
                }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
