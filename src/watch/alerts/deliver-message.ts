import type { AlertChannel, AlertPlan, AlertRule } from '../../core/alerts/alert-rule.ts'
import { describeError, type Failure } from '../../core/errors.ts'
import { SCHEME_PRESETS, signBody } from '../../core/incoming/signature.ts'
import { type Clock, isoTime, waitUntil } from '../../core/time.ts'
import { type AlertMessage, writeText } from './message.ts'

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

/** Sends a message once. Rejects with a line that says why the channel did not take it. */
function sendMessage(
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
      return sendEmail(channel, message, options)
  }
}

const TIMEOUT_MS = 10_000

type ChannelOf<Kind extends AlertChannel['kind']> = Extract<AlertChannel, { kind: Kind }>

/** Sends the message as plain text over SMTP. The library is loaded with the first message. */
async function sendEmail(
  { smtp, from, to }: ChannelOf<'email'>,
  message: AlertMessage,
  { signal }: { signal: AbortSignal },
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
      signal,
    })
  } catch (error) {
    const { host } = new URL(smtp)
    throw new Error(`${host} did not take the mail: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    transport.close()
  }
}

/** Posts the message as an event of type `upshot.alert`, signed as Standard Webhooks says. */
function postWebhook(
  { url, secret }: ChannelOf<'webhook'>,
  { id, at, rule, when, summary, items, more }: AlertMessage,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<void> {
  const data = { rule, when, summary, items, more }
  const body = JSON.stringify({ id, type: 'upshot.alert', created: isoTime(at), data })
  const headers = signBody(SCHEME_PRESETS['standard-webhooks'], secret, { id, body: Buffer.from(body) }, now)
  return post(url, body, { headers, signal })
}

/** Posts the message in the form of Slack's incoming webhooks, which others understand, too. */
export function postSlack(
  { url }: ChannelOf<'slack'>,
  message: AlertMessage,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const text = `*${escapeSlack(message.rule)}*\n${escapeSlack(writeText(message))}`
  return post(url, JSON.stringify({ text }), { headers: {}, signal })
}

/** Slack reads `<…>` as links and mentions. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

async function post(
  url: string,
  body: string,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error: unknown) => {
    throw new Error(`${new URL(url).host} did not answer: ${readCause(error)}`)
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
}

/** `fetch` only says that it failed; its cause says why. Neither names the path, a secret. */
function readCause(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  if (error.name === 'TimeoutError') return `nothing came within ${TIMEOUT_MS / 1_000} s`
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : error.message
}
