import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { refuse, UpshotError } from '../../../core/errors.ts'
import { parseEvent } from '../../../core/incoming/parse-event.ts'
import { parseJson } from '../../../core/json.ts'
import type { Cli } from '../../command.ts'
import { readText } from '../../input/read-source.ts'
import { call } from '../../open/operations.ts'
import { type Column, formatTable, type Layout } from '../../terminal/table.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[event]', 'id of the event, evt_…, or its beginning')
    .option('--file <file>', 'an event that is not stored: a file with its body')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--workflow <id>', 'only this workflow')
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .action((id, { file, account, workflow, workflows: folder }) => {
      if ((id === undefined) === (file === undefined)) throw refuse('Name one event, or --file.', EXAMPLE)
      const body = { ...(file === undefined ? { event: id } : readGiven(file)), account }
      const flags =
        folder === undefined ? null : { UPSHOT_WORKFLOWS_DIR: { flag: '--workflows', value: resolve(folder) } }
      return project.withOperations(
        async (operations) => {
          const matches = await call(operations, 'POST /events/match', { body })
          const found = matches.workflows.filter((match) => workflow === undefined || match.workflow === workflow)
          if (workflow !== undefined && found.length === 0) throw describeUnknown(workflow)
          const asked = { ...matches, workflows: found }
          out.result(asked, () => formatMatches(asked, out))
          for (const { file, message } of matches.broken) out.note(`${file} cannot be loaded: ${message}`)
        },
        { ...(flags && { flags }) },
      )
    })
}

/** An event that is not stored, from the body of one. */
function readGiven(file: string) {
  const { id: event, type, created, data } = parseEvent(parseJson(readText(file)))
  return { event, type, created, data }
}

type Matches = AnswerOf<'POST /events/match'>
type WorkflowMatch = Matches['workflows'][number]

const WORDS: Record<WorkflowMatch['fate'], string> = {
  starts: 'starts',
  waits: 'waits',
  halts: 'needs a person',
  skipped: 'is skipped',
  ignored: 'ignores it',
}

const COLUMNS: Column<WorkflowMatch>[] = [
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'ITS RUN', value: ({ fate }) => WORDS[fate] },
  { title: 'BECAUSE', value: ({ clauses }) => describeLast(clauses), most: 200 },
  { title: 'FILE', value: ({ file }) => file },
]

function describeLast(clauses: WorkflowMatch['clauses']): string {
  const last = clauses.at(-1)
  return last === undefined ? '' : `${last.name}: ${last.says}`
}

function formatMatches({ event: id, type, workflows }: Matches, layout: Layout): string[] {
  const concerned = workflows.filter(({ fate }) => fate !== 'ignored')
  const others = workflows.filter(({ fate }) => fate === 'ignored')
  return [
    concerned.length === 0 ? `No workflow runs on ${type}, such as ${id}.` : `${type} ${id}`,
    ...(concerned.length === 0 ? [] : ['', ...formatTable(concerned, COLUMNS, layout)]),
    ...(others.length === 0 ? [] : ['', `Not on ${type}: ${others.map(({ workflow }) => workflow).join(', ')}.`]),
  ]
}

const EXAMPLE = 'For example: "upshot events match evt_1", or "upshot events match --file event.json".'

function describeUnknown(workflow: string): UpshotError {
  return new UpshotError('not_found', `In the workflows folder, no module defines the workflow "${workflow}".`, {
    fix: 'See which there are: upshot workflows list',
  })
}
