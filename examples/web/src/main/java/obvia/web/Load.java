package obvia.web;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Makes up requests like those of many who read one site: few pages are asked for often and many seldom, as Zipf has it, and messages have 20 strings of headers and up to 1060 bytes together.
 *
 * <p>The same numbers give the same requests.
 */
final class Load {
    /** What a message has in bytes, from and to. */
    static final int LEAST = 196;
    static final int MOST = 1060;

    /** Lengths of the names of headers, as browsers send them: `Accept`, `Cookie` and so on. */
    private static final int[] NAMES = {6, 15, 15, 13, 7, 6, 3, 25};
    /** What comes to these: `Host` and `User-Agent` with the values that {@link Player} sends. */
    private static final int OF_CLIENT = "Host".length() + "127.0.0.1:8080".length() + "User-Agent".length() + Player.USER_AGENT.length();
    /** Readers whose browsers differ. */
    private static final int READERS = 100;

    private Load() {}

    /**
     * What is asked for.
     *
     * @param requests how many requests
     * @param rate requests in a second, on average; they come independently of each other
     * @param pages how many pages there are
     * @param skew of the page that comes K-th there are K to the power of this times less than of the first
     */
    record Site(int requests, double rate, int pages, double skew, long seed) {}

    /** Makes the requests. */
    static List<Trace.Request> make(Site site) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(site.seed);
        double[] upTo = popularity(site);
        List<List<Integer>> readers = new ArrayList<>();
        for (int reader = 0; reader < READERS; reader++) {
            readers.add(headers(random));
        }
        List<Trace.Request> requests = new ArrayList<>();
        while (requests.size() < site.requests) {
            long pause = (long) (random.nextExponential() * 1e6 / site.rate);
            int found = Arrays.binarySearch(upTo, random.nextDouble());
            String path = "/pages/" + Math.min(found < 0 ? -found - 1 : found, site.pages - 1);
            List<Integer> headers = readers.get(random.nextInt(READERS));
            Trace.Request get = new Trace.Request(pause, "GET", path, headers, 0);
            // `POST` is longer than `GET`.
            int room = MOST - bytes(get) - 1;
            boolean isForm = room > 0 && random.nextInt(10) == 0;
            requests.add(isForm ? new Trace.Request(pause, "POST", path, headers, 1 + random.nextInt(room)) : get);
        }
        return requests;
    }

    /** Bytes of a message, with those headers that no trace has. */
    static int bytes(Trace.Request request) {
        return request.bytes() + OF_CLIENT;
    }

    /** For each page the share of requests that are for it or for a more popular one. */
    private static double[] popularity(Site site) {
        double[] upTo = new double[site.pages];
        double sum = 0;
        for (int page = 0; page < site.pages; page++) {
            sum += Math.pow(page + 1, -site.skew);
            upTo[page] = sum;
        }
        for (int page = 0; page < site.pages; page++) {
            upTo[page] /= sum;
        }
        return upTo;
    }

    /** What one reader's browser sends: short and long ones, most of them rather short. */
    private static List<Integer> headers(RandomGenerator random) {
        int names = Arrays.stream(NAMES).sum();
        // Beside these there is a path, of up to 20 bytes, and a method.
        int room = MOST - OF_CLIENT - names - 24;
        int least = LEAST - OF_CLIENT - names;
        double share = random.nextDouble();
        int values = Math.max(least, 0) + (int) ((room - Math.max(least, 0)) * share * share);
        List<Integer> strings = new ArrayList<>();
        for (int header = 0; header < NAMES.length; header++) {
            int left = NAMES.length - header;
            int value = left == 1 ? values : Math.min(values, random.nextInt(2 * values / left + 1));
            values -= value;
            strings.add(NAMES[header]);
            strings.add(value);
        }
        return List.copyOf(strings);
    }
}
