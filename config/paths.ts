import { join, resolve } from 'node:path'

/** The folders that the workflows write to, below the folder of the app's own data. */
export function pathsIn(dataFolder: string) {
  return {
    reports: join(dataFolder, 'reports'),
    intake: join(dataFolder, 'intake'),
    alerts: join(dataFolder, 'alerts'),
    inventory: join(dataFolder, 'inventory'),
  }
}

export const paths = pathsIn(resolve(process.env.UPSHOT_DATA_DIR || 'data'))
