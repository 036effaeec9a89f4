import type { AlertChannel } from '../../../core/alerts/alert-rule.ts'
import { type AlertMessage, writeText } from '../message.ts'

const TIMEOUT_MS = 10_000

/** Sends the message as plain text over SMTP. The library is loaded with the first message. */
export async function sendEmail(
  { smtp, from, to }: Extract<AlertChannel, { kind: 'email' }>,
  message: AlertMessage,
): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const bounds = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
  const transport = createTransport({ url: smtp, ...bounds })
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: `[Upshot] ${message.rule}: ${message.summary}`.slice(0, 200),
      text: `${writeText(message)}\n`,
      messageId: `<${message.id}.${message.at}@upshot>`,
    })
  } catch (error) {
    const { host } = new URL(smtp)
    throw new Error(`${host} did not take the mail: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    transport.close()
  }
}
