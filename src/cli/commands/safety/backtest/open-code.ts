import { resolve } from 'node:path'
import type { openRoom } from '../../../../app/play/open-room.ts'
import type { Room } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { formatFailure } from '../../../terminal/format-value.ts'

interface Wanted {
  store: Parameters<typeof openRoom>[0]
  config: Config
  workflow: string
  /** The folder of the code; undefined: that of the project. */
  workflows: string | undefined
  /** The one module of that folder, as it is named in messages. Absent: there are more. */
  module?: string
  readFiles: Parameters<typeof Room.open>[0]['readFiles']
  notesLines?: boolean
  trustsReads?: boolean
}

/** Opens a room, and throws `not_found` where its code has no such workflow. */
export async function openCode(
  out: Cli['out'],
  { store, config, workflow, workflows, module, readFiles, notesLines = false, trustsReads = false }: Wanted,
): Promise<Room> {
  const { openRoom } = await import('../../../../app/play/open-room.ts')
  const room = await openRoom(store, config, {
    onPrint: (text) => out.detail(text.trimEnd()),
    notesLines,
    trustsReads,
    ...(readFiles === undefined ? {} : { readFiles }),
    ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
  })
  const { broken, workflows: found } = room.code
  for (const { file, error } of broken) out.note(`${module ?? file} cannot be loaded: ${formatFailure(error)}`)
  if (found.some(({ id }) => id === workflow)) return room
  await room[Symbol.asyncDispose]()
  const where =
    module === undefined ? `No module of ${room.settings.workflowsDir} defines` : `${module} does not define`
  const faults = broken.map(({ file, error }) => ` ${module ?? file} cannot be loaded: ${formatFailure(error)}.`)
  throw new UpshotError('not_found', `${where} the workflow "${workflow}".${faults.join('')}`, {
    details: { fix: 'Find its id with "upshot workflows list", or correct the module that cannot be loaded.' },
  })
}

/** The workflow in a room that has it. */
export function requireLoaded({ code }: Pick<Room, 'code'>, workflow: string): Room['code']['workflows'][number] {
  const found = code.workflows.find(({ id }) => id === workflow)
  if (found === undefined) throw new Error(`The room has loaded no "${workflow}".`)
  return found
}
