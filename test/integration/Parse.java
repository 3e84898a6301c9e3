import com.sun.source.util.JavacTask;
import java.io.File;
import java.util.Arrays;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Checks only the syntax of Java files. Exits with 1 if a file has a syntax error. */
public class Parse {
    public static void main(String[] files) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, null);
        var units = manager.getJavaFileObjectsFromFiles(Arrays.stream(files).map(File::new).toList());
        var problems = new javax.tools.DiagnosticCollector<javax.tools.JavaFileObject>();
        ((JavacTask) compiler.getTask(null, manager, problems, null, null, units)).parse();
        problems.getDiagnostics().forEach(System.err::println);
        System.exit(problems.getDiagnostics().isEmpty() ? 0 : 1);
    }
}
