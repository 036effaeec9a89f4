import type { SandboxParts } from '../service/sandbox-parts.ts'
import { someSettings } from '../state/live-settings.ts'
import type { Routes } from './routes.ts'

export function settingsRoutes({ settings }: SandboxParts): Routes {
  return {
    'GET /settings': () => settings.get(),
    'PATCH /settings': ({ body }) => settings.update(someSettings.parse(body)),
  }
}
