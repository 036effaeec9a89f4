import { UpshotError } from '../../../core/errors.ts'
import type { ShadowModule } from '../../../project/workflows/list-shadows.ts'
import { openRoom, type RoomConfig } from '../../play/open-room.ts'
import type { Room } from '../../play/room.ts'
import { wrapModule } from '../wrap-module.ts'

/** A shadow's code in a room of its own. */
export interface OpenShadow extends AsyncDisposable {
  /** Id of its workflow. */
  workflow: string
  room: Room
}

/** Loads a shadow, until the signal ends it. Throws `invalid_workflow` where its module has no workflow. */
export async function openShadow(
  store: Parameters<typeof openRoom>[0],
  config: RoomConfig,
  { file, path }: Pick<ShadowModule, 'file' | 'path'>,
  signal: AbortSignal,
): Promise<OpenShadow> {
  await using stack = new AsyncDisposableStack()
  const { workflowsDir } = stack.use(wrapModule(path))
  const room = stack.use(await openRoom(store, config, { workflowsDir, isAside: true, onPrint: () => {}, signal }))
  const [found] = room.code.workflows
  if (found === undefined) {
    const why = room.code.broken[0]?.error.message ?? 'it defines no workflow'
    throw new UpshotError('invalid_workflow', `${file} cannot be loaded: ${why}`)
  }
  const held = stack.move()
  return { workflow: found.id, room, [Symbol.asyncDispose]: () => held.disposeAsync() }
}
