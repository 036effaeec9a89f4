import type { MessagePort } from 'node:worker_threads'
import type { Session } from './direct-session.ts'

type Request =
  | { kind: 'watch' }
  | { kind: 'hint' }
  | { kind: 'hold' | 'drop'; worker: string; call: number }
  | { kind: 'isSteady'; call: number }

type Answer = 'changed' | { call: number; value?: boolean }

/** Lets another thread use the session of this one, so that code that blocks it costs no lease. */
export function serveSession(session: Session, port: MessagePort): void {
  let stop = () => {}
  const tell = (answer: Answer) => port.postMessage(answer)
  port.on('message', (request: Request) => {
    if (request.kind === 'hint') session.hint()
    else if (request.kind === 'watch') stop = session.watch(() => tell('changed'))
    else if (request.kind === 'isSteady') void session.isSteady().then((value) => tell({ call: request.call, value }))
    else void session[request.kind](request.worker).finally(() => tell({ call: request.call }))
  })
  port.on('close', () => stop())
}

/** The session of the thread at the other end of a port. */
export class PortSession implements Session {
  readonly #port: MessagePort
  readonly #watchers = new Set<() => void>()
  readonly #waiting = new Map<number, (value?: boolean) => void>()
  #calls = 0
  #isHinting = false
  #isWatching = false

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (answer: Answer) => {
      if (answer === 'changed') for (const watcher of this.#watchers) watcher()
      else this.#settle(answer.call, answer.value)
    })
    port.on('close', () => {
      for (const call of [...this.#waiting.keys()]) this.#settle(call)
    })
  }

  watch(onChange: () => void): () => void {
    const watcher = () => onChange()
    this.#watchers.add(watcher)
    if (!this.#isWatching) this.#port.postMessage({ kind: 'watch' } satisfies Request)
    this.#isWatching = true
    return () => {
      this.#watchers.delete(watcher)
    }
  }

  /** One message per turn. */
  hint(): void {
    if (this.#isHinting) return
    this.#isHinting = true
    setImmediate(() => {
      this.#isHinting = false
      this.#port.postMessage({ kind: 'hint' } satisfies Request)
    })
  }

  async hold(worker: string): Promise<void> {
    await this.#call((call) => ({ kind: 'hold', worker, call }))
  }

  async drop(worker: string): Promise<void> {
    await this.#call((call) => ({ kind: 'drop', worker, call }))
  }

  async isSteady(): Promise<boolean> {
    return (await this.#call((call) => ({ kind: 'isSteady', call }))) ?? false
  }

  /** The session itself belongs to the other thread. */
  async close(): Promise<void> {
    this.#port.close()
  }

  #call(request: (call: number) => Request): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const call = ++this.#calls
      this.#waiting.set(call, resolve)
      this.#port.postMessage(request(call))
    })
  }

  #settle(call: number, value?: boolean): void {
    this.#waiting.get(call)?.(value)
    this.#waiting.delete(call)
  }
}
