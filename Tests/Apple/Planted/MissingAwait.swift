// refused: cannot be called from outside of the actor
// An actor is asked without waiting.

import Cordon

func ask(_ protection: AppProtection) async -> LaunchOutcome { protection.launch(nil) }
