import type { Command } from '@commander-js/extra-typings'
import { adoptEnvFile, processEnvironment } from '../../../project/config/environment.ts'
import { type Explained, explainConfig } from '../../../project/config/explain-config.ts'
import { projectChoice } from '../../open/project-choice.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

/** `upshot config show`: what the app would be told, with secrets hidden. */
export function define(command: Command, out: Output): void {
  command.option('--origins', 'also where each value comes from').action(async ({ origins = false }) => {
    const root = process.cwd()
    const adopted = adoptEnvFile(root)
    const configFile = projectChoice.configFile ?? undefined
    const settings = await explainConfig(processEnvironment(), root, { configFile, adopted })
    const shown = origins ? settings : settings.map(({ setting, value }) => ({ setting, value }))
    out.result(shown, () => formatTable(settings, origins ? [...COLUMNS, ...ORIGINS] : COLUMNS, out.paint))
    out.note('A flag wins over the environment, that over .env, that over the project file, that over the default.')
  })
}

const COLUMNS: Column<Explained>[] = [
  { title: 'SETTING', value: ({ setting }) => setting },
  { title: 'VALUE', value: ({ value }) => value, most: 80 },
]

const ORIGINS: Column<Explained>[] = [
  { title: 'ORIGIN', value: ({ origin }) => origin, style: ({ origin }) => (origin === 'default' ? 'dim' : 'green') },
  { title: 'FROM', value: ({ from }) => from },
]
