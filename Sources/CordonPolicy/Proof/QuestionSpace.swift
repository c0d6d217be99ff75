/// All questions about one action that meet some conditions, one of each class.
struct QuestionSpace {
    private let action: Action
    /// Fields with the values that meet the conditions, in the order in which they are varied.
    private let dimensions: [(field: QuestionField, choices: [QuestionClasses.Choice])]

    init(_ action: Action, _ conditions: [SentenceCondition], in classes: QuestionClasses) {
        self.action = action
        var fields: [QuestionField] = [.owner, .alsoOpen] + QuestionField.read(by: action)
        for condition in conditions where !fields.contains(condition.field) { fields.append(condition.field) }
        dimensions = fields.map { field in
            let wanted = conditions.filter { $0.field == field }
            let choices = classes.choices(of: field).filter { choose in
                var question = Question(action, owner: nil)
                choose(&question)
                return wanted.allSatisfy { $0.holds(question) }
            }
            return (field, choices)
        }
    }

    /// How many classes of questions there are; the largest number for more than that.
    var count: Int {
        dimensions.reduce(1) { count, dimension in
            let (product, isMore) = count.multipliedReportingOverflow(by: dimension.choices.count)
            return isMore ? .max : product
        }
    }

    /// Gives one question of every class, until the body says that it has seen enough.
    ///
    /// Facts that only launch conditions read are left to ``launchGroups``.
    func forEach(_ body: (Question) -> Bool) {
        guard count > 0 else { return }
        let isLaunch = action == .launch
        let varied = dimensions.filter { !(isLaunch && Self.launchFields.contains($0.field)) }
        _ = Self.vary(varied[...], Question(action, owner: nil), body)
    }

    /// The groups of launch conditions, each with every combination of the facts that it reads.
    var launchGroups: [(group: LaunchGroup, combinations: [[QuestionClasses.Choice]])] {
        LaunchGroup.allCases.map { group in
            let lists = group.fields.map { field in dimensions.first { $0.field == field }?.choices ?? [] }
            return (group, lists.reduce([[]]) { rest, choices in rest.flatMap { one in choices.map { one + [$0] } } })
        }
    }

    private static let launchFields = Set(LaunchGroup.allCases.flatMap(\.fields))

    private static func vary(
        _ dimensions: ArraySlice<(field: QuestionField, choices: [QuestionClasses.Choice])>, _ question: Question,
        _ body: (Question) -> Bool
    ) -> Bool {
        guard let dimension = dimensions.first else { return body(question) }
        var question = question
        for choose in dimension.choices {
            choose(&question)
            if !vary(dimensions.dropFirst(), question, body) { return false }
        }
        return true
    }
}
