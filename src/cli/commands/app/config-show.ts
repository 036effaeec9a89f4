import type { Command } from '@commander-js/extra-typings'
import { adoptEnvFile, processEnvironment } from '../../../project/config/environment.ts'
import { type Explained, explainConfig } from '../../../project/config/explain-config.ts'
import type { Cli } from '../../command.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

export function define(command: Command, { out, project }: Cli): void {
  command.option('--origins', 'also show the source of each value').action(async ({ origins = false }) => {
    const { root, configFile } = project
    const adopted = adoptEnvFile(root)
    const settings = await explainConfig(processEnvironment(), root, { configFile, adopted })
    const shown = origins ? settings : settings.map(({ setting, value }) => ({ setting, value }))
    out.result(shown, () => formatTable(settings, origins ? [...COLUMNS, ...ORIGINS] : COLUMNS, out))
    out.note('Order of precedence: option, environment, .env, project file, default.')
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
