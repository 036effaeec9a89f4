import type { Command } from '@commander-js/extra-typings'
import type { RouteSpec } from '../../admin/contract/route.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import type { Cli } from '../command.ts'
import { countUpTo } from '../input/parse-option.ts'
import { commandClock } from '../open/command-clock.ts'
import type { Output } from '../terminal/output.ts'
import { type Column, formatTable } from '../terminal/table.ts'
import { type ItemOf, type ListName, noteSearched, readList } from './read-list.ts'
import { addSchemaOptions, type OptionNames, readSchemaOptions } from './schema-options.ts'

const DEFAULT_LIMIT = 20

interface ListWords<Name extends ListName> extends OptionNames {
  columns: (now: number) => Column<ItemOf<Name>>[]
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
  const { query } = routes[name]
  const isPaged = query !== undefined && 'limit' in query.shape
  const names = { ...words, without: [...(words.without ?? []), 'limit', 'after'] }
  return function define(command: Command, { out, project }: Cli): void {
    if (query) addSchemaOptions(command, query, names)
    if (isPaged) command.option('--limit <n>', 'the most rows, 1 to 10000', countUpTo(10_000), DEFAULT_LIMIT)
    words.options?.(command)
    command.action((given) =>
      project.withOperations(
        async (operations) => {
          const options = given as Record<string, unknown>
          const filter = { ...(query ? readSchemaOptions(query, options, names) : {}), ...words.query?.(options) }
          const limit = isPaged ? (options.limit as number) : null
          const answer = await readList(operations, name, { input: { query: filter }, limit })
          const items = answer.items as ItemOf<Name>[]
          const { items: _, ...about } = answer
          out.result(items, () => formatTable(items, words.columns(commandClock.now()), out), about)
          const { empty, noMatch = empty, what = 'rows' } = words
          if (items.length === 0) out.note(Object.keys(filter).length > 0 ? noMatch : empty)
          if (limit !== null) noteSearched(out, answer, { limit, what })
          for (const line of words.after?.(answer, out) ?? []) out.note(line)
        },
        { isList: routes[name].isSearch === true },
      ),
    )
  }
}
