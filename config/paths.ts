import { join, resolve } from 'node:path'

/** Folders that the workflows write to, inside the app's data directory. */
export function pathsIn(dataFolder: string) {
  return {
    reports: join(dataFolder, 'reports'),
    intake: join(dataFolder, 'intake'),
    alerts: join(dataFolder, 'alerts'),
    inventory: join(dataFolder, 'inventory'),
  }
}

export const paths = pathsIn(resolve(process.env.UPSHOT_DATA_DIR || 'data'))
