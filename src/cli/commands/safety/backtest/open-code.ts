import { resolve } from 'node:path'
import type { Room } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { formatFailure } from '../../../terminal/format-value.ts'

interface Wanted {
  store: ReadStore
  config: Config
  workflow: string
  /** The folder of the code; undefined: that of the project. */
  workflows: string | undefined
  readFiles: Parameters<typeof Room.open>[0]['readFiles']
  notesLines?: boolean
}

/** Opens a room, and throws `not_found` where its code has no such workflow. */
export async function openCode(
  out: Cli['out'],
  { store, config, workflow, workflows, readFiles, notesLines = false }: Wanted,
): Promise<Room> {
  const { openRoom } = await import('../../../../app/play/open-room.ts')
  const room = await openRoom(store, config, {
    onPrint: (text) => out.detail(text.trimEnd()),
    notesLines,
    ...(readFiles === undefined ? {} : { readFiles }),
    ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
  })
  const { broken, workflows: found } = room.code
  for (const { file, error } of broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
  if (found.some(({ id }) => id === workflow)) return room
  await room[Symbol.asyncDispose]()
  throw new UpshotError('not_found', `No module of ${room.settings.workflowsDir} defines the workflow "${workflow}".`, {
    details: { fix: 'Find its id with "upshot workflows list", or correct the module that cannot be loaded.' },
  })
}
