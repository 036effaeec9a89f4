import { redactUrls } from '../../core/errors.ts'
import type { Config } from './load-config.ts'

/**
 * The settings that a process runs with, by path. They are chosen one by one, so that no key,
 * secret or address of a channel is among them.
 */
export function listSettings(config: Config): { setting: string; value: string }[] {
  const { role, host, ports, logLevel, dataDir, workflowsDir, slots, drainMs, engine, limits, publicUrl } = config
  const { receive, files, retention, service } = config
  const { host: adminHost, url, basePath, metrics } = config.admin
  const chosen = {
    ...{ role, host, ports, logLevel, dataDir, workflowsDir, slots, drainMs, engine, limits },
    ...{ publicUrl, receive, files },
    admin: { host: adminHost, url, basePath, metrics },
    retention,
    guard: config.guardPolicy.limits ?? 'off',
    service: service.kind,
    ...(service.kind === 'real'
      ? { serviceBaseUrl: service.baseUrl, plan: service.plan, storages: service.storages }
      : {}),
  }
  return [...flattenSettings(chosen)].map(([setting, value]) => ({ setting, value: redactUrls(value) }))
}

/** Every leaf of settings by its path, such as `receive.bodyBytes`. */
export function flattenSettings(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  }
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return new Map(entries.flatMap(([name, part]) => [...flattenSettings(part, path === '' ? name : `${path}.${name}`)]))
}
