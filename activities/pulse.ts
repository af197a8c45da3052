import { activityInfo, cancellationSignal, heartbeat } from "@temporalio/activity";

/**
 * Heartbeats every second until the scope ends (`using pulse = startPulse()`), so that a dead worker is
 * noticed within the heartbeat timeout. `point` is a small readable pointer shown in the UI.
 */
export function startPulse(first = "started"): Disposable & { point(at: string): void } {
  let at = first;
  const timer = setInterval(() => heartbeat(at), 1000);
  heartbeat(at);
  return {
    point: (next) => {
      at = next;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

export { activityInfo, cancellationSignal };
