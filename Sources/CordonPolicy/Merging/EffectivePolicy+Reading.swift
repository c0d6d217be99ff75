extension EffectivePolicy: JSONReadable {
    /// Reads the members as they are written.
    package init(_ members: JSONMembers) throws(PolicyError) {
        let json = try members.value("policy")
        let policy: AppProtectionPolicy
        do { policy = try AppProtectionPolicy(graphJSON: json) } catch {
            throw error.inside("policy")
        }
        let named = try members.value("origins")
        guard case .object(let names) = named else {
            throw PolicyError.wrong(named, needed: "an object").inside("origins")
        }
        var origins: [String: String] = [:]
        for (setting, value) in names {
            guard let id = value.string else { throw PolicyError.wrong(value, needed: "text").inside("origins") }
            origins[setting] = id
        }
        self.init(
            policy: policy, origins: origins, conflicts: try members.list("conflicts"),
            contributors: try members.list("contributors"))
    }
}

extension PolicyConflict: JSONReadable {
    package init(_ members: JSONMembers) throws(PolicyError) {
        setting = try members.text("setting")
        chosen = try members.present("chosen")
        candidates = try members.list("candidates")
    }
}

extension PolicyConflict.Candidate: JSONReadable {
    package init(_ members: JSONMembers) throws(PolicyError) {
        policyId = try members.text("policyId")
        value = try members.present("value")
    }
}

extension PolicyReference: JSONReadable {
    package init(_ members: JSONMembers) throws(PolicyError) {
        self.init(id: try members.text("id"), version: try members.text("version"))
    }
}
