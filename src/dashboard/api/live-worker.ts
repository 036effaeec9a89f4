/** One connection to the live feed for all tabs of the dashboard. */

interface Command {
  url: string
  key: string
}

/** The state of the feed, and its messages, as every tab gets them. */
export type FeedMessage = { kind: 'state'; state: 'live' | 'reconnecting' } | { kind: 'changed' }

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000

const tabs = new Set<MessagePort>()
let isRunning = false
let latest: Command | null = null
let state: FeedMessage = { kind: 'state', state: 'reconnecting' }

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (!port) return
  port.onmessage = ({ data }: MessageEvent<Command | 'bye'>) => {
    if (data === 'bye') return void tabs.delete(port)
    latest = data
    tabs.add(port)
    port.postMessage(state)
    // The tab may have asked before something changed that it was not told of.
    if (isLive()) port.postMessage({ kind: 'changed' } satisfies FeedMessage)
    if (!isRunning) void follow()
  }
})

function isLive(): boolean {
  return state.kind === 'state' && state.state === 'live'
}

async function follow(): Promise<void> {
  isRunning = true
  for (let waitMs = FIRST_WAIT_MS; tabs.size > 0; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const hasListened = await listen().catch(() => false)
    if (hasListened) waitMs = FIRST_WAIT_MS
    tell({ kind: 'state', state: 'reconnecting' })
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  isRunning = false
}

/** Reads the feed until it ends; true where it began. */
async function listen(): Promise<boolean> {
  if (!latest) return false
  const response = await fetch(latest.url, { headers: { 'X-Upshot': latest.key }, credentials: 'same-origin' })
  if (!response.ok || !response.body) return false
  tell({ kind: 'state', state: 'live' })
  // Anything may have changed while nobody listened.
  tell({ kind: 'changed' })
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) read(message)
    if (tabs.size === 0) return true
  }
  return true
}

/** A message says that something changed; the page then asks again for what it shows. */
function read(message: string): void {
  const kind = /^event: (\w+)$/m.exec(message)?.[1]
  if (kind === 'changed' || kind === 'operation') tell({ kind: 'changed' })
}

function tell(message: FeedMessage): void {
  if (message.kind === 'state') state = message
  for (const tab of tabs) tab.postMessage(message)
}
