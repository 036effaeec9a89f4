import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { findEvent } from '../../../admin/queries/find-event.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventMatches, MatchFate, WorkflowMatch } from '../../../core/incoming/event-match.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { readEventFile } from '../../open/read-event-file.ts'
import { formatFailure } from '../../terminal/format-value.ts'
import { type Column, formatTable, type Layout } from '../../terminal/table.ts'

/** `upshot events match <id>`: what the workflows of the project would make of an event. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[event]', 'id of the event, evt_…, or its beginning')
    .option('--file <file>', 'an event that is not stored: a file with its body')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--workflow <id>', 'only this workflow')
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .action((id, { file, account, workflow, workflows: folder }) =>
      project.withStore(async (store, config) => {
        if ((id === undefined) === (file === undefined)) throw describeMisuse()
        const now = commandClock.now()
        const event =
          file === undefined
            ? await findEvent(store, { id: id ?? '', account })
            : readEventFile(file, { account: account ?? DEFAULT_ACCOUNT, now })
        const { matchWorkflows } = await import('../../../app/play/match-workflows.ts')
        const matches = await matchWorkflows(store, config, {
          ...{ event, now, onPrint: (text) => out.detail(text.trimEnd()) },
          ...(folder === undefined ? {} : { workflowsDir: resolve(folder) }),
        })
        const found = matches.workflows.filter((match) => workflow === undefined || match.workflow === workflow)
        if (workflow !== undefined && found.length === 0) throw describeUnknown(workflow)
        const { broken } = matches
        out.result({ event: event.id, type: event.type, workflows: found, broken }, () =>
          formatMatches({ workflows: found, broken }, event, out),
        )
        for (const { file, error } of broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
      }),
    )
}

const WORDS: Record<MatchFate, string> = {
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

function formatMatches({ workflows }: EventMatches, { id, type }: EventRecord, layout: Layout): string[] {
  const concerned = workflows.filter(({ fate }) => fate !== 'ignored')
  const others = workflows.filter(({ fate }) => fate === 'ignored')
  return [
    concerned.length === 0 ? `No workflow runs on ${type}, such as ${id}.` : `${type} ${id}`,
    ...(concerned.length === 0 ? [] : ['', ...formatTable(concerned, COLUMNS, layout)]),
    ...(others.length === 0 ? [] : ['', `Not on ${type}: ${others.map(({ workflow }) => workflow).join(', ')}.`]),
  ]
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Name one event, or --file.', {
    details: { fix: 'For example: "upshot events match evt_1", or "upshot events match --file event.json".' },
  })
}

function describeUnknown(workflow: string): UpshotError {
  return new UpshotError('not_found', `In the workflows folder, no module defines the workflow "${workflow}".`, {
    details: { fix: 'See which there are: upshot workflows list' },
  })
}
