import CordonScan
import Testing

/// What counts as a guard, and what does not.
struct GuardTests {
    private static let answer = "protection.decision(for: Question(.copy, owner: owner)).verdict.permits"
    private static let optional = "protection?.decision(for: Question(.copy, owner: owner)).verdict.permits"

    private func copying(_ before: String, _ after: String = "") throws -> [String] {
        try ScannedFolder.found(
            """
            import Cordon
            func copy(_ text: String) throws {
                \(before.split(separator: "\n").joined(separator: "\n    "))
                UIPasteboard.general.string = text
                \(after)
            }
            """
        ).map { String($0.split(separator: " ").last ?? "") }
    }

    @Test(arguments: [
        "_ = try protection.permit(for: Question(.copy, owner: owner))",
        "let permit = try await protection.outlets.copyPermit(for: text, of: owner)",
        "guard let permit = try? protection.permit(for: Question(.copy, owner: owner)) else { return }",
        "guard protection.rules.verdict(for: Question(.copy, owner: owner)) == .allow else { return }",
        "guard isReady, protection.decision(for: Question(.copy, owner: owner)).verdict.permits else { return }",
        "let question = Question(.copy, owner: owner)\nguard protection.decision(for: question).verdict.permits else { return }",
        "if protection.decision(for: Question(.copy, owner: owner)).verdict.permits == false { return }",
        "if (!protection.decision(for: Question(.copy, owner: owner)).verdict.permits || isBusy) { return }",
        "for _ in 0..<1 {}\nlet may = protection.decision(for: Question(.copy, owner: owner)).verdict.permits\nguard may else { throw Refused() }",
        "do { _ = try protection.permit(for: Question(.copy, owner: owner)) } catch { return }",
        "_ = try protection.permit(for: .may(.copy, of: owner))",
        "_ = try protection.permit(for: .copy(text.count, for: peer, of: owner))",
        "let question = Question.may(.copy, of: owner)\n_ = try protection.permit(for: question)",
        "guard case .allow = protection.decision(for: Question(.copy, owner: owner)).verdict else { return }",
        "guard protection?.decision(for: Question(.copy, owner: owner)).verdict.permits ?? false else { return }",
        "guard user?.isActive ?? false && \(Self.answer) else { return }",
        "guard let may = \(Self.optional), may else { return }",
        "guard let may = \(Self.optional), may != false else { return }",
        "guard let answer = protection?.decision(for: .may(.copy, of: owner)), answer.verdict.permits else { return }",
        "let may = \(Self.optional)\nguard let may, may else { return }",
        "guard isManaged ? \(Self.answer) : false else { return }",
        "guard items.isEmpty ? false : \(Self.answer) else { return }",
        "guard \(Self.answer) ? isReady : false else { return }",
        "if !\(Self.answer) {\n    if isStrict {\n        throw Refused()\n    } else if isNew {\n        return\n    } else {\n        return\n    }\n}",
        "guard protection?.decision(for: Question(.copy, owner: owner)).verdict.permits == true else { return }",
        "if protection?.decision(for: Question(.copy, owner: owner?.id)).verdict.permits != true { return }",
        "guard (protection.decision(for: Question(.copy, owner: owner)).verdict.permits && isReady) else { return }",
        "if isNew {\n    return\n} else if isBusy {\n    return\n} else if !protection.decision(for: Question(.copy, owner: owner)).verdict.permits {\n    return\n}",
        "guard let place = first ?? second, isReady || isNew, protection.decision(for: Question(.copy, owner: owner)).verdict.permits else { return }",
        "if !protection.decision(for: Question(.copy, owner: owner)).verdict.permits {\n    show(\n        text)\n    return show {\n        text\n    }\n}",
    ])
    func `asked before, it is guarded`(_ guarding: String) throws {
        #expect(try copying(guarding) == [])
    }

    @Test(arguments: [
        "",
        "_ = try protection.permit(for: Question(.print, owner: owner))",
        "try? protection.permit(for: Question(.copy, owner: owner))",
        "let permit = try? protection.permit(for: Question(.copy, owner: owner))",
        "protection.decision(for: Question(.copy, owner: owner))",
        "guard !protection.decision(for: Question(.copy, owner: owner)).verdict.permits else { return }",
        "guard protection.decision(for: Question(.copy, owner: owner)).verdict.permits || isForced else { return }",
        "if !protection.decision(for: Question(.copy, owner: owner)).verdict.permits { log() }",
        "if !protection.decision(for: Question(.copy, owner: owner)).verdict.permits, isStrict { return }",
        "if protection.decision(for: Question(.copy, owner: owner)).verdict.permits { log() }",
        "let ask = { _ = try protection.permit(for: Question(.copy, owner: owner)) }",
        "func ask() throws { _ = try protection.permit(for: Question(.copy, owner: owner)) }",
        "do { _ = try protection.permit(for: Question(.copy, owner: owner)) } catch { log(error) }",
        "guard protection.rules.verdict(for: Question(.copy, owner: owner)) != .allow else { return }",
        "var may = protection.decision(for: Question(.copy, owner: owner)).verdict.permits\nmay = true\nif !may { log() }",
        "_ = try protection.permit(for: .may(.print, of: owner))",
        "_ = try protection.permit(for: .save(to: .cameraRoll, of: owner))",
        "let question = Question.may(.print, of: owner)\n_ = try protection.permit(for: question)",
        "// _ = try protection.permit(for: Question(.copy, owner: owner))",
        "log(\"try protection.permit(for: Question(.copy, owner: owner))\")",
        "if isNew { _ = try protection.permit(for: Question(.copy, owner: owner)) }",
        "isNew ? try protection.permit(for: Question(.copy, owner: owner)) : nil",
        "switch kind {\ncase .a: _ = try protection.permit(for: Question(.copy, owner: owner))\ndefault: break\n}",
        "if !\(Self.answer) {\n    if isStrict {\n        return\n    }\n}",
        "if !\(Self.answer) { if isStrict { return } }",
        "do { _ = try protection.permit(for: Question(.copy, owner: owner)) } catch { if isStrict { return } }",
        "if isNew {\n    log()\n} else if !\(Self.answer) {\n    return\n}",
        "if !\(Self.answer) || isBusy, isStrict { return }", "guard isNew ? true : \(Self.answer) else { return }",
        "guard protection?.decision(for: Question(.copy, owner: owner)).verdict.permits ?? true else { return }",
        "guard !(\(Self.answer) && isReady) else { return }",
        "guard (\(Self.answer) && isReady) == false else { return }",
        "var may = \(Self.answer)\nmay = true\nguard may else { return }",
        "var may = \(Self.answer)\nmay.toggle()\nguard may else { return }",
        "#if DEBUG\nguard \(Self.answer) else { return }\n#endif",
        "guard \(Self.answer) ? true : isDemo else { return }",
        "if !\(Self.answer) {\n    if isStrict {\n        return\n    } else {\n        log()\n    }\n}",
        "guard (isReady && \(Self.answer)) ? true : isDemo else { return }",
        "let may = \(Self.answer) && isReady ? true : isDemo\nguard may else { return }",
        "guard !\(Self.answer) ? isDemo : true else { return }",
        "guard isNew ? \(Self.answer) : true else { return }",
        "guard isNew ? isOld ? \(Self.answer) : false : true else { return }",
        "guard (first ?? \(Self.answer)) else { return }",
        "if !\(Self.answer) {\n    #if DEBUG\n    return\n    #endif\n}",
        "do { _ = try protection.permit(for: Question(.copy, owner: owner)) } catch {\n    #if DEBUG\n    return\n    #endif\n}",
        "guard protection?.decision(for: Question(.copy, owner: owner)).verdict.permits != false else { return }",
        "if protection?.decision(for: Question(.copy, owner: owner)).verdict.permits == false { return }",
        "let may = protection?.decision(for: Question(.copy, owner: owner)).verdict.permits\nguard may != false else { return }",
        "guard let may = \(Self.optional) else { return }",
        "let may = \(Self.optional)\nguard let may else { return }",
        "let may = \(Self.optional)\nguard let may = may else { return }",
        "guard let answer = protection?.decision(for: .may(.copy, of: owner)) else { return }",
    ])
    func `not asked, or asked for nothing, it is not guarded`(_ guarding: String) throws {
        #expect(try copying(guarding) == ["pasteboard"])
    }

    @Test func `a button that takes a permit guards what it does, and not what it does when it is refused`() throws {
        let source = """
            import Cordon
            let button = PermitButton("Copy", for: .may(.copy, of: owner)) { box in
                UIPasteboard.general.string = text
            } refused: { denial in
                UIPasteboard.general.string = text
            }
            """
        #expect(try ScannedFolder.found(source) == ["5: pasteboard"])
    }

    @Test func `asked afterwards is not asked`() throws {
        #expect(try copying("", "_ = try protection.permit(for: Question(.copy, owner: owner))") == ["pasteboard"])
    }

    @Test func `an answer that is one of two conditions of a choice guards neither side`() throws {
        let answer = "protection.decision(for: Question(.share, owner: owner)).verdict.permits"
        let source = """
            import Cordon
            present(isNew || \(answer) ? ShareLink(item: text) : nil)
            present(isNew && !\(answer) ? nil : ShareLink(item: text))
            present(isNew && \(answer) ? ShareLink(item: text) : nil)
            """
        #expect(try ScannedFolder.found(source) == ["2: share", "3: share"])
    }

    @Test func `a name is what it is in its own function`() throws {
        let source = """
            import Cordon
            func seal(_ data: Data) async throws -> Data { try await protection.files.protect(data, for: account) }
            func keep(_ data: Data, _ place: URL) async throws {
                let sealed = try await protection.files.protect(data, for: account)
                try sealed.write(to: place)
            }
            func save(_ sealed: Data, _ data: Data, _ place: URL) throws {
                try data.write(to: place)
                try sealed.write(to: place)
                let question = Question(.print, owner: owner)
                _ = try protection.permit(for: question)
                UIPasteboard.general.string = text
            }
            func ask() throws {
                let question = Question(.copy, owner: owner)
                _ = try protection.permit(for: question)
            }
            """
        #expect(try ScannedFolder.found(source) == ["8: file", "9: file", "12: pasteboard"])
    }

    @Test func `a name that is set again is known in its own function, and a property in the whole file`() throws {
        let source = """
            import Cordon
            final class Store {
                let place: URL
                func keep(_ text: String) async throws {
                    var data = Data(text.utf8)
                    data = try await protection.files.protect(data, for: account)
                    try data.write(to: url)
                    _ = try await protection.files.protect(data, for: account)
                    try await protection.files.protect(place, for: account)
                    var question = Question.may(.print, of: owner)
                    question = Question.may(.copy, of: owner)
                }
                func export(_ data: Data) throws { try data.write(to: url) }
                func export(_ place: URL) throws { try text.write(to: place) }
                func change() throws { try text.write(to: place) }
                func each() throws { try text.write(to: first { _ in true }) }
                func copy(_ question: Question) throws {
                    _ = try protection.permit(for: question)
                    UIPasteboard.general.string = text
                }
                func hand() throws {
                    let question = Question.may(.print, of: owner)
                    _ = try protection.permit(for: question)
                    UIPasteboard.general.string = text
                }
                func fill() async throws {
                    guard (try? await protection.files.protect(file, for: account)) != nil else { return }
                    try text.write(to: file)
                }
            }
            """
        #expect(try ScannedFolder.found(source) == ["13: file", "14: file", "16: file", "24: pasteboard"])
    }

    @Test func `a property that is unwrapped is the property, and another value by its name is not`() throws {
        let source = """
            import Cordon
            func keep() async throws { data = try await protection.files.protect(text, for: account) }
            func a() throws {
                guard let data else { return }
                try data.write(to: url)
            }
            func b() throws { if isNew, let data = self.data { try data.write(to: url) } }
            func c() throws { if let data = self.data.text { try data.write(to: url) } }
            func d() throws { if let data: Data = other { try data.write(to: url) } }
            """
        #expect(try ScannedFolder.found(source) == ["8: file", "9: file"])
    }

    @Test func `a file that a loop or a closure seals is not the one that another function has by its name`() throws {
        let source = """
            import Cordon
            func keep() async throws {
                for place in own { try await protection.files.protect(place, for: account) }
                try await each { file in try await protection.files.protect(file, for: account) }
            }
            func export() throws {
                for place in others { try text.write(to: place) }
                try each { file in try text.write(to: file) }
            }
            """
        #expect(try ScannedFolder.found(source) == ["7: file", "8: file"])
    }

    @Test func `a variable is what it is in its own function, and may be narrowed`() throws {
        let source = """
            import Cordon
            func a(_ text: String) {
                var may = \(Self.answer)
                may = may && isOnline
                guard may else { return }
                UIPasteboard.general.string = text
            }
            func b(_ text: String) {
                let may = settings.may
                guard may else { return }
                UIPasteboard.general.string = text
            }
            func c(_ text: String) {
                var may = \(Self.answer)
                may = isDemo
                log(\(Self.answer))
                guard may else { return }
                UIPasteboard.general.string = text
            }
            func d(_ text: String) {
                var may = \(Self.answer)
                may = other.decision(for: Question(.copy, owner: owner)).verdict.permits || isAdmin
                guard may else { return }
                UIPasteboard.general.string = text
            }
            """
        #expect(try ScannedFolder.found(source) == ["11: pasteboard", "18: pasteboard", "24: pasteboard"])
    }

    @Test(arguments: [
        ("permit: consuming EgressPermit", true), ("permit: EgressPermit? = nil", false),
        ("act: (consuming EgressPermit) -> Void", false), ("permit: Optional<EgressPermit>", false),
        ("result: Result<EgressPermit, any Error>", false), ("make: () throws -> EgressPermit", false),
        ("permit: borrowing Cordon.EgressPermit, again: Bool", true),
    ])
    func `a parameter that is a permit says that it was taken, and one that may be missing does not`(
        _ parameter: String, _ isGuard: Bool
    ) throws {
        let source =
            "import Cordon\nfunc copy(_ text: String, \(parameter)) {\n    UIPasteboard.general.string = text\n}"
        #expect(try ScannedFolder.found(source) == (isGuard ? [] : ["3: pasteboard"]))
    }

    @Test func `a permit that an object is made with guards none of its methods`() throws {
        let source = """
            import Cordon
            final class Copier {
                let permit = try! protection.permit(for: Question(.copy, owner: owner))
                func copy(_ text: String) { UIPasteboard.general.string = text }
            }
            """
        #expect(try ScannedFolder.found(source) == ["4: pasteboard"])
    }

    @Test
    func `a view is shown by a state that is turned over behind a guard, and not by one that is so anywhere else`()
        throws
    {
        func found(_ other: String) throws -> [String] {
            try ScannedFolder.found(
                """
                import Cordon
                struct Row: View {
                    @State private var isOn = false
                    var body: some View {
                        Button("Share") {
                            guard protection.decision(for: Question(.share, owner: owner)).verdict.permits else { return }
                            isOn.toggle()
                        }
                        .sheet(isPresented: $isOn) { ShareLink(item: text) }
                        .onTapGesture { \(other) }
                    }
                }
                """)
        }
        #expect(try found("isOn = false") == [])
        #expect(try found("isOn.toggle()") == ["9: share"])
    }

    @Test func `a case that no version knows yet is a case`() throws {
        let source = """
            import Cordon
            switch protection.decision(for: Question(.copy, owner: owner)).verdict {
            case .block, .wipe, .restrict: show()
            case .allow, .warn: UIPasteboard.general.string = text
            @unknown default: UIPasteboard.general.string = text
            }
            """
        #expect(try ScannedFolder.found(source) == ["5: pasteboard"])
    }

    @Test func `a decision of another API is none`() throws {
        let source = """
            func copy(_ text: String) throws {
                guard router.decision(for: user).verdict.permits else { return }
                UIPasteboard.general.string = text
            }
            """
        #expect(try ScannedFolder.found(source) == ["3: pasteboard"])
    }

    @Test func `a guard in one case of a switch is none for the next`() throws {
        let source = """
            import Cordon
            func act(_ kind: Kind, _ text: String) throws {
                switch kind {
                case .first:
                    _ = try protection.permit(for: Question(.copy, owner: owner))
                    UIPasteboard.general.string = text
                case .second:
                    UIPasteboard.general.string = text
                }
            }
            """
        #expect(try ScannedFolder.found(source) == ["8: pasteboard"])
    }

    @Test func `a function of the project that asks guards what calls it, unless another of its name does not ask`()
        throws
    {
        let asking =
            "import Cordon\nextension Gate { func mustCopy() throws { _ = try protection.permit(for: Question(.copy, owner: owner)) } }"
        let source =
            "func copy(_ text: String) throws {\n    try gate.mustCopy()\n    UIPasteboard.general.string = text\n}"
        #expect(try ScannedFolder.found(source, beside: ["Gate.swift": asking]) == [])
        let other = "struct Other { func mustCopy() throws {} }"
        #expect(
            try ScannedFolder.found(source, beside: ["Gate.swift": asking, "Other.swift": other]) == ["3: pasteboard"])
        #expect(try ScannedFolder.found(source, beside: ["Other.swift": other]) == ["3: pasteboard"])
    }

    @Test func `a property of the project guards, unless something of its name is simply yes in code that ships`()
        throws
    {
        let body = "protection.decision(for: Question(.copy, owner: owner)).verdict.permits"
        let source =
            "func copy(_ text: String) {\n    guard gate.mayCopy else { return }\n    UIPasteboard.general.string = text\n}"
        func found(_ body: String, _ other: String = "") throws -> [String] {
            let asking = "import Cordon\nstruct Gate { var mayCopy: Bool { \(body) } }"
            return try ScannedFolder.found(source, beside: ["Gate.swift": asking, "Other.swift": other])
        }
        #expect(try found(body) == [])
        #expect(try found("return isManaged ? \(body) : false") == [])
        #expect(try found("let shown = \(body) ? 1 : 2\nlog(shown)\nreturn \(body)") == [])
        #expect(try found(body, "#if DEBUG\nlet row = Row(mayCopy: true)\n#endif") == [])
        // What shipped code has must ask, whatever debug builds and previews have in its place.
        for other in [
            "#if DEBUG\nstruct PreviewGate { var mayCopy: Bool { true } }\n#endif",
            "let button = ShareButton(isEnabled: isManaged ? gate.mayCopy : true)",
            "func may(_ way: Way) -> Bool { switch way { case .mayCopy: true } }",
        ] {
            #expect(try found(body, other) == [], "\(other)")
        }
        for other in [
            "struct S { var mayCopy = true }", "struct S { var mayCopy: Bool = true }", "let row = Row(mayCopy: true)",
        ] {
            #expect(try found(body, other) == ["3: pasteboard"], "\(other)")
        }
        // Two answers in one `return` speak for no other.
        for open in [
            "if isNew { return true }\nreturn \(body) && \(body)", "return isNew ? true : \(body)",
            "\(body) ? true : isDemo", "return \(body) ? true : isDemo",
        ] {
            #expect(try found(open) == ["3: pasteboard"], "\(open)")
        }
    }

    @Test
    func `a property that debug builds have in another form guards, and a label has nothing to do with a function`()
        throws
    {
        let copy = "\n    UIPasteboard.general.string = text\n}"
        let both = """
            import Cordon
            struct Gate {
                #if DEBUG
                var mayCopy: Bool { log(); return \(Self.answer) }
                #else
                var mayCopy: Bool { \(Self.answer) }
                #endif
            }
            """
        let property = "func copy(_ text: String) {\n    guard gate.mayCopy else { return }" + copy
        #expect(try ScannedFolder.found(property, beside: ["Gate.swift": both]) == [])
        let function = "import Cordon\nstruct Gate { func mayCopy() -> Bool { \(Self.answer) } }"
        let label = "let row = Row(mayCopy: true)"
        let call = property.replacing("mayCopy", with: "mayCopy()")
        #expect(try ScannedFolder.found(call, beside: ["Gate.swift": function, "Row.swift": label]) == [])
        // Without its parentheses it is another thing of that name.
        #expect(
            try ScannedFolder.found(property, beside: ["Gate.swift": function, "Row.swift": label])
                == ["3: pasteboard"])
    }

    @Test func `a function is guarded by all of its callers, and by one only is not enough`() throws {
        let helper = "struct Copier { func put(_ text: String) { UIPasteboard.general.string = text } }"
        let guarded =
            "import Cordon\nfunc a() throws { _ = try protection.permit(for: Question(.copy, owner: owner)); Copier().put(x) }"
        let open = "func b() { Copier().put(y) }"
        #expect(try ScannedFolder.found(helper, beside: ["A.swift": guarded]) == [])
        let preview = "#Preview { Copier().put(z) }"
        #expect(try ScannedFolder.found(helper, beside: ["A.swift": guarded, "B.swift": preview]) == [])
        #expect(try ScannedFolder.found(helper, beside: ["A.swift": guarded, "B.swift": open]) == ["1: pasteboard"])
    }

    @Test
    func `Cordon's own outlets may reach the system, and a protocol of the app's own of that name gives no leave`()
        throws
    {
        let outlet =
            "import Cordon\nstruct Board: Clipboard { func write(_ item: ClipboardItem) { UIPasteboard.general.string = item.text } }"
        #expect(try ScannedFolder.found(outlet) == [])
        #expect(try ScannedFolder.found(outlet, beside: ["Own.swift": "protocol Clipboard {}"]) == ["2: pasteboard"])
        #expect(try ScannedFolder.found(outlet.replacing("import Cordon\n", with: "\n")) == ["2: pasteboard"])
    }
}
