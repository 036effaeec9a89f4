import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from './open-database.ts'

/** The thread that copies the log when it is told to; what readers still need of it stays until the next time. */
const { file } = workerData as { file: string }
const db = openDatabase(file)

parentPort?.on('message', () => {
  db.pragma('wal_checkpoint(PASSIVE)')
})
