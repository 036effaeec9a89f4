import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { UpshotError } from '../../core/errors.ts'
import { systemClock, waitUntil } from '../../core/time.ts'
import type { Cli } from '../command.ts'
import { countUpTo, parseMs } from '../input/parse-option.ts'
import { call, type Operations } from '../open/operations.ts'
import { formatDocument, steerless } from '../terminal/format-value.ts'
import { onInterrupt } from '../terminal/on-interrupt.ts'
import type { Output } from '../terminal/output.ts'

/** How often a server is asked. */
const LOOK_MS = 1_000
/** Items of one answer. */
const PAGE = 500

interface Items {
  'GET /events': AnswerOf<'GET /events'>['items'][number]
  'GET /runs': AnswerOf<'GET /runs'>['items'][number]
}
type Tailed = keyof Items
type Item<Name extends Tailed> = Items[Name]

interface TailWords<Name extends Tailed> {
  /** The option that narrows the list, by its name in the query. */
  only: readonly [name: string, flag: string, help: string]
  /** Its place in the order of the list: of two items the newer one has the larger. */
  place: (item: Item<Name>) => number | string
  /** The state that is shown; null where it will not change any more. Left out: it never does. */
  state?: (item: Item<Name>) => string | null
  line: (item: Item<Name>, paint: Output['paint']) => string
}

/**
 * A line for each new item of a list, and for each that has changed, until Ctrl-C or `--for`. A
 * server is asked each second. `--json` prints a document per line, as `--ndjson` does.
 */
export function tailCommand<Name extends Tailed>(name: Name, words: TailWords<Name>) {
  return function define(command: Command, { out, project }: Cli): void {
    const [key, flag, help] = words.only
    command.option(flag, help)
    command
      .option('--last <n>', 'number of stored items to start with, 1 to 500', countUpTo(PAGE), 10)
      .option('--for <duration>', 'stop after this long, such as 30s or 5m (default: at Ctrl-C)', parseMs)
      .action(({ last, for: forMs, ...given }) =>
        project.withOperations(async (operations) => {
          const query = { [key]: (given as Record<string, unknown>)[key] }
          const tail = new Tail(operations, { name, words, query, last })
          const end = forMs === undefined ? Number.MAX_SAFE_INTEGER : systemClock.now() + forMs
          const { json, ndjson } = out.given
          await follow(operations, { end, out }, async () => {
            for (const item of await tail.readChanged()) {
              out.streams.stdout.write(
                `${json || ndjson ? formatDocument(item) : steerless(words.line(item, out.paint))}\n`,
              )
            }
          })
        }),
      )
  }
}

interface Following {
  /** In epoch milliseconds. */
  end: number
  out: Pick<Output, 'note'>
}

/**
 * Prints now, and after each change of the store. A server that has answered once is waited for,
 * while it starts again.
 */
export async function follow(
  { local }: Operations,
  { end, out }: Following,
  print: () => Promise<void>,
): Promise<void> {
  const over = new AbortController()
  const ended = AbortSignal.any([onInterrupt(), over.signal])
  const failed = Promise.withResolvers<never>()
  let printing = Promise.resolve()
  let isDue = false
  let server: 'unknown' | 'there' | 'away' = 'unknown'
  const look = async () => {
    try {
      await print()
      server = 'there'
    } catch (error) {
      if (local || server === 'unknown' || !isAway(error)) throw error
      if (server === 'there') out.note(`${error.message} The next lines come once it answers.`)
      server = 'away'
    }
  }
  const printNew = () => {
    // The look that is due sees this change, too: looks that are slow do not pile up.
    if (isDue) return
    isDue = true
    printing = printing.then(() => {
      isDue = false
      return look()
    })
    printing.catch(failed.reject)
  }
  printNew()
  const timer = local ? null : setInterval(printNew, LOOK_MS)
  const watch = local?.store.watch(systemClock, printNew)
  try {
    await Promise.race([waitUntil(systemClock, end, ended).catch(() => {}), failed.promise])
  } finally {
    // The wait would keep a command that has failed from its end.
    over.abort()
    watch?.stop()
    if (timer !== null) clearInterval(timer)
    await printing.catch(() => {})
  }
}

function isAway(error: unknown): error is UpshotError {
  return error instanceof UpshotError && /^(service_failed|draining|overloaded|store_unavailable)$/.test(error.code)
}

interface Tailing<Name extends Tailed> {
  name: Name
  words: TailWords<Name>
  query: Record<string, unknown>
  last: number
}

/** Remembers the last shown state of each item; null: it will not change any more. */
export class Tail<Name extends Tailed> {
  readonly #operations: Operations
  readonly #of: Tailing<Name>
  readonly #shown = new Map<string, string | null>()
  /** Place of the oldest item of the first look: older ones are never told. */
  #since: number | string | null = null

  constructor(operations: Operations, of: Tailing<Name>) {
    this.#operations = operations
    this.#of = of
  }

  /** The items that are new or have another state than shown, oldest first. */
  async readChanged(): Promise<Item<Name>[]> {
    const { state = () => null } = this.#of.words
    const newest = await this.#readNewest()
    const names = new Set(newest.map(nameOf))
    const open = [...this.#shown].filter(([name, shown]) => shown !== null && !names.has(name))
    const older = await Promise.all(open.map(([name]) => this.#find(name)))
    const changed = [...older.filter((item) => item !== null), ...newest.toReversed()].filter((item) => {
      const shown = this.#shown.get(nameOf(item))
      return shown === undefined || (shown !== null && shown !== state(item))
    })
    for (const item of changed) this.#shown.set(nameOf(item), state(item))
    // No later look lists these again.
    for (const [name, shown] of this.#shown) if (shown === null && !names.has(name)) this.#shown.delete(name)
    return changed
  }

  /** Back to a page with a known item, so that none is skipped, however many have come. */
  async #readNewest(): Promise<Item<Name>[]> {
    const { name, words, query, last } = this.#of
    const since = this.#since
    const items: Item<Name>[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const asked = { ...query, after, limit: since === null ? last : PAGE }
      const page: AnswerOf<Tailed> = await call(this.#operations, name as Tailed, { query: asked })
      const found = page.items as Item<Name>[]
      const fresh = since === null ? found : found.filter((item) => words.place(item) >= since)
      items.push(...fresh)
      const isKnown = fresh.length < found.length || fresh.some((item) => this.#shown.has(nameOf(item)))
      after = since === null || isKnown ? null : page.next
    }
    this.#since ??= words.place(items.at(-1) ?? ({ id: '', seq: 0 } as Item<Name>))
    return items
  }

  /** Null once retention has removed it. */
  #find(name: string): Promise<Item<Name> | null> {
    const [id = ''] = name.split(' ')
    const path = `${this.#of.name}/:id` as 'GET /runs/:id'
    return (call(this.#operations, path, { params: { id } }) as Promise<unknown> as Promise<Item<Name>>).catch(
      (error: unknown) => {
        if (error instanceof UpshotError && error.code === 'not_found') return null
        throw error
      },
    )
  }
}

/** Accounts may share ids. */
function nameOf({ id, account }: { id: string; account: string }): string {
  return `${id} ${account}`
}
