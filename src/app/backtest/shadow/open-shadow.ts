import { UpshotError } from '../../../core/errors.ts'
import { openRoom, type RoomConfig } from '../../play/open-room.ts'
import type { Room } from '../../play/room.ts'

/** A shadow's code in a room of its own. */
export interface OpenShadow {
  /** Id of its workflow. */
  workflow: string
  room: Room
}

/**
 * Loads a shadow, until the signal ends it. `config` names a folder with its module alone, `file`
 * is the name in messages. Throws `invalid_workflow` where its module has no workflow.
 */
export async function openShadow(
  store: Parameters<typeof openRoom>[0],
  config: RoomConfig,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<OpenShadow> {
  const room = await openRoom(store, config, { isAside: true, onPrint: () => {}, signal })
  const [found] = room.code.workflows
  if (found !== undefined) return { workflow: found.id, room }
  await room[Symbol.asyncDispose]()
  const why = room.code.broken[0]?.error.message ?? 'it defines no workflow'
  throw new UpshotError('invalid_workflow', `${file} cannot be loaded: ${why}`)
}
