import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import type { Cli } from '../command.ts'
import { call, type Operations } from '../open/operations.ts'
import { confirm } from '../terminal/confirm.ts'
import type { Output } from '../terminal/output.ts'

interface ActWords<Name extends RouteName, Look extends RouteName> {
  /** The argument: its name in the path, and its help. */
  argument: [name: string, help: string]
  /** Printed below its options. */
  help?: string
  /** Reads what the action is about. It throws where that is not there, under `--dry-run` too. */
  look?: Look
  options?: (command: Command) => unknown
  body?: (options: Record<string, unknown>, named: string) => unknown
  /** The action in words, such as `pause the workflow a`. */
  will: (named: string, found: AnswerOf<Look> | null) => string
  /** Its consequences, for the person who is asked. Left out: nobody is asked. */
  asks?: (found: AnswerOf<Look> | null) => readonly string[]
  /** The result as JSON; default: the answer. */
  data?: (answer: AnswerOf<Name>, named: string, found: AnswerOf<Look> | null) => unknown
  done: (answer: AnswerOf<Name>, named: string, found: AnswerOf<Look> | null) => string | readonly string[]
  note?: (answer: AnswerOf<Name>, named: string) => string | null
}

/** A command that does one thing to one named row, or with `asks` does it after a question. */
export function actCommand<Name extends RouteName, Look extends RouteName = never>(
  name: Name,
  words: ActWords<Name, Look>,
) {
  const [argument, help] = words.argument
  return function define(command: Command, { out, project }: Cli): void {
    words.options?.(command)
    if (words.help) command.addHelpText('after', `\n${words.help}`)
    command.argument(`<${argument}>`, help).action((named, given) =>
      project.withOperations(async (operations) => {
        const params = { [argument]: named }
        const found = words.look === undefined ? null : await look(operations, words.look, params)
        const will = words.will(named, found)
        if (words.asks || out.given.dryRun) {
          const isConfirmed = await confirm(out, { will, things: words.asks?.(found) ?? [] })
          if (!isConfirmed) return refrain(out, will)
        }
        const body = words.body?.(given as Record<string, unknown>, named)
        const input = body === undefined ? { params } : { params, body }
        const answer = await call(operations, name, input as unknown as InputOf<Name>)
        const lines = words.done(answer, named, found)
        const data = words.data ? words.data(answer, named, found) : (answer ?? { [argument]: named, done: true })
        out.result(data, () => (typeof lines === 'string' ? [lines] : lines))
        const note = words.note?.(answer, named)
        if (note) out.note(note)
      }),
    )
  }
}

function look<Look extends RouteName>(operations: Operations, name: Look, params: Record<string, string>) {
  return call(operations, name, { params } as unknown as InputOf<Look>)
}

/** The result of a dry run. */
export function refrain(out: Output, will: string): void {
  out.result({ dryRun: true, will }, () => [`This would ${will}.`])
}
