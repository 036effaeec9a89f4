import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** The path of a Chromium on this machine, or undefined. */
export function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path))
}

type Message = {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { message: string }
}

/** One tab of a headless browser, driven over its own debugging protocol. */
export class Tab {
  /** What the page complained of: refused resources, errors, anything under the policy. */
  readonly complaints: string[] = []
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (message: Message) => void>()
  readonly #loads: (() => void)[] = []
  #sent = 0
  #session: string | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))))
  }

  async open(): Promise<void> {
    const { targetId } = await this.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
    const attached = await this.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    this.#session = attached.sessionId
    for (const domain of ['Page', 'Runtime', 'Log', 'DOM']) await this.send(`${domain}.enable`)
  }

  send<Result = unknown>(method: string, params: Record<string, unknown> = {}): Promise<Result> {
    const id = ++this.#sent
    this.#socket.send(JSON.stringify({ id, method, params, sessionId: this.#session }))
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ error, result }) =>
        error ? reject(new Error(error.message)) : resolve(result as Result),
      )
    })
  }

  /** Resolves when the page has loaded. */
  async goTo(url: string): Promise<void> {
    const loaded = this.nextLoad()
    await this.send('Page.navigate', { url })
    await loaded
  }

  nextLoad(): Promise<void> {
    return new Promise((resolve) => this.#loads.push(resolve))
  }

  /** The value of an expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result } = await this.send<{ result: { value: Value } }>('Runtime.evaluate', {
      expression,
      returnByValue: true,
    })
    return result.value
  }

  /** The page's text as its HTML says, script or no script. */
  async markup(): Promise<string> {
    const { root } = await this.send<{ root: { nodeId: number } }>('DOM.getDocument')
    const { outerHTML } = await this.send<{ outerHTML: string }>('DOM.getOuterHTML', { nodeId: root.nodeId })
    return outerHTML
  }

  #receive(message: Message): void {
    if (message.id !== undefined) this.#waiting.get(message.id)?.(message)
    if (message.method === 'Page.loadEventFired') this.#loads.shift()?.()
    const entry = message.params?.entry as { level: string; text: string } | undefined
    if (message.method === 'Log.entryAdded' && entry?.level === 'error') this.complaints.push(entry.text)
    if (message.method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(message.params))
    if (message.method === 'Page.javascriptDialogOpening') this.complaints.push('a dialog opened')
  }
}

export interface Browser {
  /** A tab with nothing in it. */
  openTab(): Promise<Tab>
  close(): Promise<void>
}

/** Starts a browser with a profile of its own. */
export async function startBrowser(path: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']
  const child = spawn(path, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const address = await readAddress(child.stderr)
  return {
    async openTab() {
      const socket = new WebSocket(address)
      await new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve)
        socket.addEventListener('error', reject)
      })
      const tab = new Tab(socket)
      await tab.open()
      return tab
    },
    async close() {
      child.kill('SIGKILL')
      await exited
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function readAddress(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [, address] = /^DevTools listening on (ws:\/\/\S+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('The browser ended before it could be driven.')
}
