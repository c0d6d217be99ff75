/// The parts of the console, in the order of its menu.
enum ConsoleArea: String, CaseIterable {
    case overview, policies, configurations, people, devices, wipes, ask, approvals, audit, reports, roles, service

    /// What the menu calls it.
    var title: Phrase {
        switch self {
        case .overview: "Overview"
        case .policies: "Policies"
        case .configurations: "App configuration"
        case .people: "People"
        case .devices: "Devices"
        case .wipes: "Wipes"
        case .ask: "Ask"
        case .approvals: "Approvals"
        case .audit: "Audit"
        case .reports: "Reports"
        case .roles: "Roles"
        case .service: "Service"
        }
    }

    var path: String { self == .overview ? "/console" : "/console/\(rawValue)" }
}
