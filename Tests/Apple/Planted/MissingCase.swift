// refused: switch must be exhaustive
// A screen of a new kind is forgotten.

import Cordon

func name(_ action: GateAction) -> String {
    switch action {
    case .submit: "submit"
    case .recognise: "recognise"
    case .forgotPIN: "forgotten"
    case .signIn: "sign in"
    case .cancel: "cancel"
    }
}
