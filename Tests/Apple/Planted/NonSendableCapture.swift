// refused: data races
// Something that is not Sendable goes into another task.

import BackgroundTasks

func later(_ task: BGTask) {
    Task.detached { task.setTaskCompleted(success: true) }
}
