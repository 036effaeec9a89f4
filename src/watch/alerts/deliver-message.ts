import type { AlertChannel, AlertPlan, AlertRule } from '../../core/alerts/alert-rule.ts'
import { describeError, type Failure } from '../../core/errors.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import type { AlertMessage } from './message.ts'
import { sendMessage } from './send-message.ts'

/** Pauses before the second try and the third. */
const PAUSES_MS = [1_000, 5_000]

/** The result of sending a message to one channel; `error` is null where it was taken. */
export interface Sending {
  channel: string
  error: Failure | null
}

interface Patience {
  clock: Clock
  /** Aborts the tries that are left. */
  signal: AbortSignal
}

/** Sends a message to the channels of its rule side by side, each up to three times. */
export function deliverMessage(
  { channels }: Pick<AlertPlan, 'channels'>,
  { to }: Pick<AlertRule, 'to'>,
  message: AlertMessage,
  patience: Patience,
): Promise<Sending[]> {
  const named = to.flatMap((name) => {
    const channel = channels[name]
    return channel === undefined ? [] : [{ name, channel }]
  })
  return Promise.all(
    named.map(async ({ name, channel }) => ({
      channel: name,
      error: await sendPatiently(channel, message, patience).then(() => null, describeError),
    })),
  )
}

async function sendPatiently(channel: AlertChannel, message: AlertMessage, { clock, signal }: Patience): Promise<void> {
  for (const pause of PAUSES_MS) {
    const error = await sendMessage(channel, message, { now: clock.now(), signal }).then(() => null, describeError)
    if (error === null) return
    await waitUntil(clock, clock.now() + pause, signal)
  }
  await sendMessage(channel, message, { now: clock.now(), signal })
}
