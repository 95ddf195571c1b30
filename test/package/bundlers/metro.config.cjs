/** As React Native has it: its transformer and preset, and its condition. */
const { dirname } = require('node:path')

const folder = process.cwd()
module.exports = {
  projectRoot: folder,
  // The bundler is installed there.
  watchFolders: [dirname(folder)],
  resolver: { unstable_conditionNames: ['react-native'] },
  transformer: {
    allowOptionalDependencies: true,
    babelTransformerPath: require.resolve('@react-native/metro-babel-transformer', { paths: [folder] }),
  },
}
