import type { Command } from '@commander-js/extra-typings'
import type { RouteSpec } from '../../admin/contract/route.ts'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import type { Cli } from '../command.ts'
import { countUpTo } from '../input/parse-option.ts'
import { call, type Operations } from '../open/operations.ts'
import type { Output } from '../terminal/output.ts'
import { type Column, formatTable } from '../terminal/table.ts'
import { addSchemaOptions, type OptionNames, readSchemaOptions } from './schema-options.ts'

const DEFAULT_LIMIT = 20

interface ListWords<Name extends ListName> extends OptionNames {
  columns: readonly Column<ItemOf<Name>>[]
  /** Told where there is nothing, and where nothing matches. */
  empty: string
  noMatch?: string
  /** The rows that a search looks at, such as `runs`. */
  what?: string
  /** Adds options of its own, which `query` reads. */
  options?: (command: Command) => void
  query?: (options: Record<string, unknown>) => Record<string, unknown>
  /** Further lines for a person. */
  after?: (answer: AnswerOf<Name>, out: Output) => readonly string[]
}

/** A command that is only options and a table. */
export function listCommand<Name extends ListName>(
  routes: Record<Name, RouteSpec>,
  name: Name,
  words: ListWords<Name>,
) {
  const { query, isSearch = false } = routes[name]
  const isPaged = query !== undefined && 'limit' in query.shape
  // Without it, nothing would lead further back than where a search stopped.
  const hasUntil = query !== undefined && 'until' in query.shape
  const names = { ...words, without: [...(words.without ?? []), 'limit', 'after'] }
  const readFilter = (options: Record<string, unknown>): Record<string, unknown> => ({
    ...(query && readSchemaOptions(query, options, names)),
    ...words.query?.(options),
  })
  return function define(command: Command, { out, project }: Cli): void {
    if (query) addSchemaOptions(command, query, names)
    if (isPaged) command.option('--limit <n>', 'the most rows, 1 to 10000', countUpTo(10_000), DEFAULT_LIMIT)
    words.options?.(command)
    command.action((given) =>
      project.withOperations(
        async (operations) => {
          const options = given as Record<string, unknown>
          const filter = readFilter(options)
          const limit = isPaged ? (options.limit as number) : null
          const answer = await readList(operations, name, { input: { query: filter }, limit, isWhole: !hasUntil })
          const items = answer.items as ItemOf<Name>[]
          const { items: _, ...about } = answer
          out.result(items, () => formatTable(items, words.columns, out), about)
          const { empty, noMatch = empty, what = 'rows' } = words
          if (items.length === 0) out.note(Object.keys(filter).length > 0 ? noMatch : empty)
          if (limit !== null) noteSearched(out, answer, { limit, what })
          for (const line of words.after?.(answer, out) ?? []) out.note(line)
        },
        { isList: isSearch },
      ),
    )
  }
}

/** A person waits this long for a search; the answer then says how far it looked. */
const BUDGET_MS = 2_000
/** Rows of one answer. */
const MAX_PAGE = 500

type Searched = AnswerOf<'GET /runs'>['searched']

type ListName = {
  [Name in RouteName]: AnswerOf<Name> extends { items: unknown[] } ? Name : never
}[RouteName]

export type ItemOf<Name extends ListName> = AnswerOf<Name> extends { items: (infer Item)[] } ? Item : never

/**
 * The pages of a list as one, up to `limit` items. A search that finds few ends after two seconds,
 * unless `isWhole`. Null: it has one page.
 */
export async function readList<Name extends ListName>(
  operations: Operations,
  name: Name,
  {
    input,
    limit,
    isWhole = false,
  }: {
    input: { params?: Record<string, string>; query: Record<string, unknown> }
    limit: number | null
    isWhole?: boolean
  },
): Promise<AnswerOf<Name> & { searched?: Searched }> {
  const until = performance.now() + (isWhole ? Number.POSITIVE_INFINITY : BUDGET_MS)
  const ask = async (query: Record<string, unknown>) =>
    (await call(operations, name, { ...input, query } as unknown as InputOf<Name>)) as unknown as Page
  if (limit === null) return (await ask(input.query)) as never
  for (let page: Page | null = null; ; ) {
    const most: number = Math.min(limit - (page?.items.length ?? 0), MAX_PAGE)
    const bound = Number.isFinite(limit) ? { limit: most } : {}
    const found: Page = await ask({ ...input.query, ...bound, ...(page && { after: page.next }) })
    page = page === null ? found : join(page, found)
    // A full page costs no more than its rows; any other one has looked at many for nothing.
    const isLate = found.items.length < most && performance.now() >= until
    if (page.next === null || page.items.length >= limit || isLate) return page as never
  }
}

interface Page {
  items: unknown[]
  next: string | null
  searched?: Searched
}

function join(page: Page, { items, next, searched }: Page): Page {
  const before = page.searched
  const both = before && searched && { ...searched, rows: before.rows + searched.rows, ms: before.ms + searched.ms }
  return { ...page, items: [...page.items, ...items], next, ...(both ? { searched: both } : {}) }
}

/** Says how far an unfinished search looked, and how to go on. Nothing for a full page. */
export function noteSearched(
  out: Output,
  { items, searched }: { items: readonly unknown[]; searched?: Searched },
  { limit, what }: { limit: number; what: string },
): void {
  if (searched === undefined || searched.isComplete || searched.from === null || items.length >= limit) return
  // The last millisecond is looked at again: it may hold more rows.
  const until = new Date(Date.parse(searched.from) + 1).toISOString()
  const where = `Looked at the newest ${searched.rows.toLocaleString('en')} ${what}, back to ${searched.from}`
  out.note(`${where}, and stopped after ${BUDGET_MS / 1_000} s. Look further back with --until ${until}`)
}
