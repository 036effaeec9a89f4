import type { AlertChannel } from '../../../core/alerts/alert-rule.ts'
import type { AlertMessage } from '../message.ts'
import { sendEmail } from './email.ts'
import { postSlack, postWebhook } from './web-hook.ts'

/** Sends a message once. Rejects with a line that says why the channel did not take it. */
export function sendMessage(
  channel: AlertChannel,
  message: AlertMessage,
  options: { now: number; signal: AbortSignal },
): Promise<void> {
  switch (channel.kind) {
    case 'webhook':
      return postWebhook(channel, message, options)
    case 'slack':
      return postSlack(channel, message, options)
    case 'email':
      return sendEmail(channel, message)
  }
}
