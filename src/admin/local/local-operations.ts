import { includesRole } from '../../core/access/role.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { AnyInput, CallOptions } from '../client/admin-client.ts'
import type { RouteSpec } from '../contract/route.ts'
import type { RouteName } from '../contract/routes.ts'
import { type AnyHandler, type Bytes, checkInput } from '../perform/handler.ts'
import { toKnown } from '../perform/to-known.ts'
import { maskCallbacks } from '../views/mask.ts'
import { type LocalParts, loadOperation, type Resource } from './load-operation.ts'

/** Operations of one caller in this process, beside the database, without a server. */
export class LocalOperations {
  readonly #parts: LocalParts
  readonly #caller: Caller
  readonly #opened = new Map<object, Readonly<Record<string, AnyHandler>>>()

  constructor(parts: LocalParts, caller: Caller) {
    this.#parts = parts
    this.#caller = caller
  }

  /** Performs one operation. Throws only {@link UpshotError}. */
  async perform(name: RouteName, input: AnyInput = {}, options: CallOptions = {}): Promise<unknown> {
    const loaded = await loadOperation(name)
    if (loaded === null) throw new UpshotError('not_found', `Only a server has the operation ${name}.`)
    const { spec, resource } = loaded
    const handlers = this.#opened.get(resource.routes) ?? (await this.#open(resource))
    return this.#handle(handlers[name] as AnyHandler, spec, { input, options })
  }

  /** The bytes of an operation that answers so. */
  async *stream(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncGenerator<Uint8Array | string> {
    yield* ((await this.perform(name, input, options)) as Bytes).chunks
  }

  /** The events of an operation that tells its progress. */
  async *events(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncGenerator<unknown> {
    yield* (await this.perform(name, input, options)) as AsyncIterable<unknown>
  }

  async #open({ routes, open, usesStoreAlone }: Resource) {
    const { openSurroundings, ...parts } = this.#parts
    // Much of the app: a command that reads the store alone does not wait for it.
    const surroundings = usesStoreAlone ? (null as never) : await openSurroundings()
    const handlers = open({ ...parts, surroundings })
    this.#opened.set(routes, handlers)
    return handlers
  }

  async #handle(
    handler: AnyHandler,
    spec: RouteSpec,
    { input, options }: { input: AnyInput; options: CallOptions },
  ): Promise<unknown> {
    const { params = {}, query = {}, body } = input
    const { role } = spec
    try {
      if (role !== 'anyone' && !includesRole(this.#caller.role, role)) {
        throw new UpshotError('forbidden', `This needs the role ${role}; you have the role ${this.#caller.role}.`)
      }
      const call = {
        ...checkInput(spec, { params, query, body }),
        caller: this.#caller,
        now: this.#parts.clock.now(),
        signal: options.signal ?? new AbortController().signal,
        onceKey: options.idempotencyKey ?? null,
      }
      const answer = await handler(call as never)
      return spec.form === 'bytes' ? answer : maskCallbacks(answer)
    } catch (error) {
      throw isForeign(error) ? error : toKnown(error)
    }
  }
}

/** An error that the command line tells by itself, such as one of the files client. */
function isForeign(error: unknown): boolean {
  return error instanceof Error && error.name !== 'ZodError'
}
