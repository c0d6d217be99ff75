// refused: errors thrown from here are not handled
// A refusal is not handled.

import Cordon

func permit(_ protection: AppProtection) { _ = PermitCount(try protection.permit(for: .may(.print, of: .personal))) }

struct PermitCount {
    init(_ permit: consuming EgressPermit) {}
}
