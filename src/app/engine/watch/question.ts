import { Session } from 'node:inspector'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineEndCause } from '../../../core/blockage.ts'
import type { Failure } from '../../../core/errors.ts'
import type { Harm } from '../../../core/runs/blame.ts'
import type { CodeAtWork } from '../../../engine/pass/scope.ts'
import type { SkippedModule } from '../../../project/workflows/load-workflows.ts'

/** Longest time that a thread may take to answer: native code may hold it. */
const ANSWER_MS = 1_000

interface Answer {
  id?: number
  method?: string
  params?: { scriptId: string; url: string }
  result?: {
    result?: RemoteObject
    /** There where the code threw; `result` is what it threw then. */
    exceptionDetails?: object
    internalProperties?: { name: string; value: RemoteObject }[]
  }
}
interface RemoteObject {
  value?: unknown
  objectId?: string
}

/**
 * Asks a thread of this process through V8's inspector. It answers even while code blocks its loop,
 * for V8 interrupts that. Only to be asked of a thread that may have to end.
 */
export class Question {
  readonly #session = new Session()
  readonly #attached = Promise.withResolvers<string | null>()
  readonly #answers = new Map<number, (answer: Answer['result'] | null) => void>()
  readonly #urls = new Map<string, string>()
  readonly #timer: NodeJS.Timeout
  #isOver = false

  constructor(threadId: number) {
    this.#session.connect()
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (workerInfo.title.startsWith(`[worker ${threadId}] `)) this.#attached.resolve(sessionId)
    })
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => this.#receive(JSON.parse(params.message)))
    this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      if (error) this.#attached.resolve(null)
    })
    this.#timer = setTimeout(() => this[Symbol.dispose](), ANSWER_MS)
  }

  /** The answer, if that is JSON; null where there is none, or V8 lets no code run just then. */
  async ask<T>(name: AnswerName): Promise<T | null> {
    const expression = `globalThis[Symbol.for('upshot.${name}')]()`
    const answer = await this.#post('Runtime.evaluate', { expression, returnByValue: true })
    return answer?.exceptionDetails ? null : ((answer?.result?.value as T | undefined) ?? null)
  }

  /** Where the function that an answer is stands; null where that is not known. */
  async locate(name: AnswerName): Promise<{ file: string; place: string } | null> {
    await this.#post('Debugger.enable', {})
    const found = await this.#post('Runtime.evaluate', { expression: `globalThis[Symbol.for('upshot.${name}')]()` })
    const objectId = found?.result?.objectId
    if (objectId === undefined) return null
    const properties = await this.#post('Runtime.getProperties', { objectId, ownProperties: true })
    const location = properties?.internalProperties?.find((each) => each.name === '[[FunctionLocation]]')?.value.value
    const { scriptId = '', lineNumber = 0 } = (location ?? {}) as { scriptId?: string; lineNumber?: number }
    const url = this.#urls.get(scriptId)
    if (!url?.startsWith('file:')) return null
    const file = fileURLToPath(url)
    return { file, place: `${relative(process.cwd(), file)}:${lineNumber + 1}` }
  }

  /** Collects what nobody holds any more. */
  async collect(): Promise<void> {
    await this.#post('HeapProfiler.collectGarbage', {})
  }

  /** Lets the thread go on; every answer that is still awaited is null. */
  [Symbol.dispose](): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#attached.resolve(null)
    for (const answer of this.#answers.values()) answer(null)
    this.#answers.clear()
    this.#session.disconnect()
  }

  async #post(method: string, params: object): Promise<Answer['result'] | null> {
    const sessionId = await this.#attached.promise
    if (sessionId === null || this.#isOver) return null
    const id = this.#answers.size + 1
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      const message = JSON.stringify({ id, method, params })
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message }, (error) => error && resolve(null))
    })
  }

  #receive({ id, method, params, result }: Answer): void {
    if (method === 'Debugger.scriptParsed' && params) this.#urls.set(params.scriptId, params.url)
    if (id !== undefined) this.#answers.get(id)?.(result ?? null)
  }
}

/** `codeAtWork`: a `CodeAtWork`; `replacedBy`: what took the place of a function of JavaScript. */
type AnswerName = 'codeAtWork' | 'replacedBy'

/** Lets a `Question` of the main thread find this answer on the global object. */
export function giveAnswer(name: AnswerName, answer: () => unknown): void {
  Object.defineProperty(globalThis, Symbol.for(`upshot.${name}`), { value: answer })
}

/** How an engine ended that nobody had asked to stop. */
export interface EngineEnd {
  cause: EngineEndCause
  error: Failure
  /** How its code ended it. Null or absent: nobody knows. */
  harm?: Harm | null
  /** The modules that may have done it, which the next engine leaves out. */
  skipped?: readonly SkippedModule[]
}

/** `did`: what the code that was found is to blame for, such as `blocked the engine`. */
export function describeEnd(cause: EngineEndCause, message: string, found: CodeAtWork | null, did: string): EngineEnd {
  const at = found?.place ? ` at ${found.place}` : ''
  const error = { name: 'Error', message: `${message}${at}.` }
  return { cause, error, harm: { runs: found && [found.run], how: `${did}${at}` } }
}

export function describeExit(code: number, found: CodeAtWork | null): EngineEnd {
  const did = `called process.exit(${code})`
  return describeEnd('exited', `The code of a workflow ${did}`, found, did)
}
